/** A stage for turns inside one process: real tools on real files, sessions in memory, a clock and crashes that tests steer. */
import { realWorld, type World } from "@holdfast/base";
import { memorySessions, type Sessions } from "@holdfast/sessions";
import { type ScriptedStep, scriptedModel } from "../../src/model/scripted.ts";
import { builtinTools } from "../../src/tools/builtin.ts";
import { turn } from "../../src/turn.ts";
import { type AgentParts, agentOf, type Lane } from "./agent.ts";
import { temporaryWorkspace } from "./workspace.ts";

const NEVER = new AbortController().signal;

/** Thrown at `crashAt`: the turn stops there as if its process had died, and its locks are freed as a kernel would. */
export class Crash extends Error {}

export interface SteeredWorld extends World {
  /** The wall clock. */
  ms: number;
  crashAt: string | null;
  /** Lets every renewal that is due happen. */
  renew(): void;
}

export function steeredWorld(): SteeredWorld {
  const real = realWorld(() => {});
  const renewals = new Set<() => void>();
  return {
    ...real,
    ms: real.nowMs(),
    crashAt: null,
    at(point) {
      if (point === this.crashAt) throw new Crash(point);
    },
    nowMs() {
      return this.ms;
    },
    every(_ms, run) {
      renewals.add(run);
      return { [Symbol.dispose]: () => renewals.delete(run) };
    },
    renew() {
      for (const run of renewals) run();
    },
  };
}

export interface Stage extends AsyncDisposable {
  readonly world: SteeredWorld;
  readonly sessions: Sessions;
  readonly root: string;
  readonly path: string;
  run(
    lane: Lane,
    script: readonly ScriptedStep[],
    more?: Partial<AgentParts> & { signal?: AbortSignal },
  ): ReturnType<typeof turn>;
  /** A run that dies at the given point. */
  crash(lane: Lane, script: readonly ScriptedStep[], at: string, more?: Partial<AgentParts>): Promise<void>;
}

export async function stage(): Promise<Stage> {
  const world = steeredWorld();
  const space = await temporaryWorkspace({ world });
  const sessions = memorySessions(world);
  const made: Stage = {
    world,
    sessions,
    root: space.root,
    path: space.path,
    async run(lane, script, { signal = NEVER, ...more } = {}) {
      const model = scriptedModel(script, { world });
      const parts = {
        sessions,
        model,
        world,
        lane,
        root: space.root,
        workspace: space.path,
        tools: builtinTools(),
        ...more,
      };
      return turn(lane.item, await agentOf(parts), signal);
    },
    async crash(lane, script, at, more = {}) {
      world.crashAt = at;
      const died = await made.run(lane, script, more).then(
        () => false,
        (error) => error instanceof Crash,
      );
      if (!died) throw new Error(`the turn did not reach ${at}`);
      world.crashAt = null;
    },
    async [Symbol.asyncDispose]() {
      await sessions.close();
      await space[Symbol.asyncDispose]();
    },
  };
  return made;
}
