/**
 * The temporary home of one demo: configuration, workspace with the notes, and where things end up.
 * Invariant: everything lies under one folder that is made here (0700), so cleaning up removes that folder and nothing else.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scene } from "./scene.ts";

/** The conversation of the demo; the owner's own. */
export const DEMO_KEY = "agent:main:main";

export class Stage {
  readonly root: string;
  readonly home: string;
  /** The folder of notes in the workspace, read-only until it is granted. */
  readonly notesDirectory: string;
  readonly trace: string;
  readonly token: string;
  readonly #workspace: string;

  /** `tools`: what the configuration says of tools, beyond the defaults. */
  constructor(scene: Scene, token: string, tools: { readonly approve?: readonly string[] } = {}) {
    this.root = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
    this.home = join(this.root, "home");
    this.trace = join(this.root, "trace");
    this.token = token;
    this.#workspace = join(this.home, "workspace");
    this.notesDirectory = join(this.#workspace, scene.directory);
    mkdirSync(this.notesDirectory, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.#workspace, scene.notesPath), scene.notes, { mode: 0o600 });
    chmodSync(this.notesDirectory, 0o500);
    const agents = { defaults: { model: { primary: "rehearsal/offline" }, tools } }; // by name: it need not introduce itself
    const config = { agents, gateway: { host: "127.0.0.1", port: 0, auth: { token } } };
    writeFileSync(join(this.home, "holdfast.json"), `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  }

  /** What the person does when the write was refused. */
  grant(): void {
    chmodSync(this.notesDirectory, 0o700);
  }

  /** The one transcript of this home; undefined before the first message. */
  transcript(): string | undefined {
    const directory = join(this.home, "agents", "main", "sessions");
    const name = readdirSync(directory).find((each) => each.endsWith(".jsonl") && !each.startsWith("sessions."));
    return name === undefined ? undefined : join(directory, name);
  }

  readTranscript(): string {
    const file = this.transcript();
    return file === undefined ? "" : readFileSync(file, "utf8");
  }

  inWorkspace(path: string): string {
    return join(this.#workspace, path);
  }

  /** Keeps only the transcript, as the one file left in the demo's folder (0600); returns its path. */
  keepTranscript(): string {
    const kept = join(this.root, "transcript.jsonl");
    writeFileSync(kept, this.readTranscript(), { mode: 0o600 });
    rmSync(this.home, { recursive: true, force: true });
    rmSync(this.trace, { force: true });
    return kept;
  }

  /** Tries again for a moment: a process that was just killed may have left a file between two looks. */
  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }
}
