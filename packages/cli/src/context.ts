/** What every command is given: where to read and write, which home, which agent. Nothing here opens a file. */
import type { World } from "@holdfast/base";
import type { Output } from "./output.ts";

export interface GlobalOptions {
  readonly json: boolean;
  /** As given; resolved by home.ts. */
  readonly home: string | undefined;
  readonly agent: string | undefined;
}

export interface CommandContext {
  readonly output: Output;
  readonly options: GlobalOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly world: World;
  readonly version: () => string;
}
