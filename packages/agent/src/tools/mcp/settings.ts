/** What is configured about one MCP server; the shape that the others of this folder share. */
import type { Effect } from "../../types.ts";

export type McpAddress =
  /** A program that speaks over its standard input and output. `env` comes on top of a few harmless variables. */
  | {
      readonly kind: "program";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
    }
  | { readonly kind: "url"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** How to find out, with another tool of the same server, what became of a call. */
export interface McpProbe {
  readonly tool: string;
  /** Its arguments; `{name}` is filled from those of the call. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Regular expressions over its text. Neither fits: unknown. */
  readonly happened: string;
  readonly absent: string;
}

export interface McpServer {
  readonly name: string;
  readonly address: McpAddress;
  /** Longest time of one call. Milliseconds. */
  readonly timeoutMs: number;
  /** By tool: what repeating a call means, whatever the server says of itself. */
  readonly effects: Readonly<Record<string, Effect>>;
  /** By tool. */
  readonly probes: Readonly<Record<string, McpProbe>>;
}
