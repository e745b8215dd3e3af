/**
 * Tools whose world is simulated: one of each kind of effect, told apart by what a crash leaves of them.
 * Invariant: `run` changes the world in one operation, and a probe says exactly what the world says.
 */
import type { Effect, Tool, ToolOutcome } from "@holdfast/agent";
import type { JsonObject } from "@holdfast/base";
import type { World } from "./outside.ts";

const spec = (name: string) => ({ name, description: name, parameters: { type: "object" } }) as const;
/** Longer than a gateway is away, so that the next one finds it running. */
export const JOB_MS = 300_000;

const done = (text: string): ToolOutcome => ({ ok: true, text });
const nameOf = (args: JsonObject): string => String(args.name);

const look: Tool = {
  spec: spec("look"),
  effect: "none",
  check: () => null,
  run: async (args) => done(`looked at ${nameOf(args)}`),
};

export interface ToolsOptions {
  /** What happens beside a call of `slow`, before it ends. */
  meanwhile(about: string): Promise<void>;
  /** Ends the process. */
  end(): void;
  /** What `ring` calls itself; the truth when left out. */
  readonly effect?: Effect;
}

export function simulatedTools(
  world: World,
  { meanwhile, end, effect = "opaque" }: ToolsOptions,
): ReadonlyMap<string, Tool> {
  const write: Tool = {
    spec: spec("write"),
    effect: "checkable",
    check: () => null,
    prepare: async (args) => ({ before: world.now.files[nameOf(args)] ?? null }),
    async probe(args, evidence) {
      const now = world.now.files[nameOf(args)] ?? null;
      const found = { ...evidence, now };
      if (now === args.content) return { kind: "happened", outcome: done("it is there"), evidence: found };
      if (now === evidence.before) return { kind: "absent", evidence: found, says: "nothing was written" };
      return { kind: "conflict", evidence: found, says: "something else is there" };
    },
    async run(args, _evidence, { key }) {
      const files = { [nameOf(args)]: String(args.content) };
      await world.act({ key, tool: "write", about: nameOf(args) }, (now) => ({ files: { ...now.files, ...files } }));
      return done("written");
    },
  };
  const acting = actingIn(world);
  const slow = acting("slow", {
    effect: "checkable",
    async probe(args, evidence, { key }) {
      const there = world.now.effects.some((effect) => effect.key === key);
      if (there) return { kind: "happened", outcome: done(`slow ${nameOf(args)}`), evidence };
      return { kind: "absent", evidence, says: "it was not begun" };
    },
    async run(args, _evidence, { key }) {
      await world.act({ key, tool: "slow", about: nameOf(args) });
      await meanwhile(nameOf(args));
      return done(`slow ${nameOf(args)}`);
    },
  });
  const ticket = acting("ticket", {
    effect: "checkable",
    identity: nameOf,
    async probe(args, evidence) {
      const there = world.now.effects.some(({ tool, about }) => tool === "ticket" && about === nameOf(args));
      if (there) return { kind: "happened", outcome: done("there is a ticket"), evidence };
      return { kind: "absent", evidence, says: "there is no ticket" };
    },
  });
  const bomb: Tool = {
    ...look,
    spec: spec("bomb"),
    run: () => {
      end();
      return new Promise(() => {});
    },
  };
  const tools = [
    look,
    write,
    bomb,
    acting("ring", { effect }),
    acting("pay", { effect: "idempotent" }),
    slow,
    ticket,
    jobOf(acting, world),
  ];
  return new Map(tools.map((tool) => [tool.spec.name, tool]));
}

/** Runs on elsewhere until its time is over, whatever becomes of the gateway that began it. */
function jobOf(acting: (name: string, more: Partial<Tool>) => Tool, world: World): Tool {
  return acting("job", {
    effect: "checkable",
    async probe(args, evidence, { key, world: { nowMs, sleep } }) {
      const endsMs = world.now.jobs[key];
      if (endsMs === undefined) return { kind: "absent", evidence, says: "it was not begun" };
      const leftMs = endsMs - nowMs();
      // After a clock that was set back nobody knows how long that is; whoever runs it says when it is over.
      if (leftMs > 0 && leftMs <= JOB_MS) return { kind: "in_flight", wait: (signal) => sleep(leftMs, signal) };
      return { kind: "happened", outcome: done(`job ${nameOf(args)}`), evidence };
    },
    async run(args, _evidence, { key, world: { nowMs, sleep }, signal }) {
      const about = nameOf(args);
      await world.act({ key, tool: "job", about }, ({ jobs }) => ({ jobs: { ...jobs, [key]: nowMs() + JOB_MS } }));
      await sleep(JOB_MS, signal);
      return done(`job ${about}`);
    },
  });
}

/** Tools whose effect is one operation of the world. */
function actingIn(world: World) {
  return (name: string, more: Partial<Tool>): Tool => ({
    spec: spec(name),
    effect: "opaque",
    check: () => null,
    async run(args, _evidence, { key }) {
      await world.act({ key, tool: name, about: nameOf(args) });
      return done(`${name} ${nameOf(args)}`);
    },
    ...more,
  });
}
