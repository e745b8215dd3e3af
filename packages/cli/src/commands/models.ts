/**
 * `holdfast models list` and `test`: which models there are, and whether they answer. Looking asks nobody; a test asks each key
 * one short question, which costs what the provider takes for it.
 */
import type { Candidate, ModelAnswer } from "@holdfast/agent";
import { loadConfig } from "@holdfast/gateway";
import type { CommandContext } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { homeOf } from "../home.ts";
import { printable } from "../output.ts";
import { columns } from "../table.ts";

/**
 * `{ "models": [{ "name", "agent", "as", "keys", "why", "contextWindow" }] }`; with a provider
 * `{ "provider", "models": [{ "id", "name", "contextWindow", "maxTokens", "input", "cost" }] }`.
 */
export async function listModels(context: CommandContext, options: { readonly provider?: string }): Promise<ExitCode> {
  if (options.provider !== undefined) return listOffer(context, options.provider);
  const home = homeOf(context);
  const { configuredModels } = await import("@holdfast/gateway/internal");
  const models = await configuredModels({ home, config: await loadConfig(home, context.env), world: context.world });
  context.output.result({ models }, (paint) =>
    columns(
      models.map(({ name, agent, as, keys, why, contextWindow }) => [
        keys > 0 ? paint.green("ready") : paint.red("no"),
        paint.bold(printable(name)),
        `${as} of ${printable(agent)}`,
        why === null ? described(keys, contextWindow) : printable(why),
      ]),
    ),
  );
  return models.some(({ keys, as }) => keys === 0 && as === "primary") ? EXIT.problems : EXIT.ok;
}

function described(keys: number, contextWindow: number | null): string {
  const window = contextWindow === null ? "window not known" : `window ${contextWindow.toLocaleString("en-US")} tokens`;
  return keys > 1 ? `${window}, ${keys} keys` : window;
}

async function listOffer(context: CommandContext, provider: string): Promise<ExitCode> {
  const { modelsListed, PROVIDERS } = await import("@holdfast/agent");
  const models = await modelsListed(provider);
  if (models.length === 0 && !Object.hasOwn(PROVIDERS, provider))
    throw new CliError("usage", { what: `No provider ${provider} is known: ${Object.keys(PROVIDERS).join(", ")}.` });
  context.output.result({ provider, models }, (paint) => {
    if (models.length === 0)
      return `Nothing is listed for ${provider}; any model it offers can be asked for by its name.`;
    return columns(
      models.map(({ id, contextWindow, input, cost }) => [
        paint.bold(`${provider}/${id}`),
        `${contextWindow.toLocaleString("en-US")} tokens`,
        input.join(", "),
        `$${cost.input} in, $${cost.output} out for a million`,
      ]),
    );
  });
  return EXIT.ok;
}

interface Tested {
  readonly name: string;
  /** Which of the keys, from 1. */
  readonly key: number;
  readonly ok: boolean;
  readonly firstMs: number | null;
  readonly tookMs: number;
  readonly answer: string;
  readonly failure: { readonly code: string; readonly message: string } | null;
}

/** `{ "tested": [{ "name", "key", "ok", "firstMs", "tookMs", "answer", "failure" }] }`; exit 3 when one does not answer. */
export async function testModels(context: CommandContext, names: readonly string[]): Promise<ExitCode> {
  const home = homeOf(context);
  const config = await loadConfig(home, context.env);
  const { configuredModels, opened } = await import("@holdfast/gateway/internal");
  const options = { home, config, world: context.world };
  const wanted = names.length > 0 ? names : [...new Set((await configuredModels(options)).map(({ name }) => name))];
  const tested: Tested[] = [];
  for (const name of wanted) {
    const candidates = await opened(options, name);
    if (typeof candidates === "string")
      tested.push({ ...UNASKED, name, failure: { code: "not_set_up", message: candidates } });
    else
      for (const [index, candidate] of candidates.entries())
        tested.push(await testOne(context, candidate, { name, key: index + 1 }));
  }
  context.output.result({ tested }, (paint) =>
    tested
      .map(({ name, key, ok, firstMs, tookMs, answer, failure }) => {
        const which = key > 1 ? `${name} (key ${key})` : name;
        if (ok)
          return `${paint.green("ok")}  ${paint.bold(printable(which))}  ${times(firstMs, tookMs)}  ${printable(answer)}`;
        return `${paint.red("no")}  ${paint.bold(printable(which))}  ${paint.red(failure?.code ?? "")}  ${printable(failure?.message ?? "")}`;
      })
      .join("\n"),
  );
  return tested.every(({ ok }) => ok) ? EXIT.ok : EXIT.problems;
}

const UNASKED = { key: 1, ok: false, firstMs: null, tookMs: 0, answer: "" } as const;
const QUESTION = "Answer with the single word: ready";
const PATIENCE_MS = 60_000;

async function testOne(
  { world }: CommandContext,
  { asks }: Candidate,
  which: Pick<Tested, "name" | "key">,
): Promise<Tested> {
  const late = new AbortController();
  const over = new AbortController();
  void world.sleep(PATIENCE_MS, over.signal).then(
    () => late.abort(),
    () => undefined,
  );
  const startedMs = world.monotonicMs();
  const first: { atMs: number | null } = { atMs: null };
  const onDelta = (): void => {
    first.atMs ??= world.monotonicMs();
  };
  const answer = await asks.ask(
    {
      system: "You are being tested.",
      messages: [{ role: "user", content: QUESTION }],
      tools: [],
      sessionId: "models-test",
    },
    { signal: late.signal, onDelta },
  );
  over.abort();
  const failure = failureIn(answer);
  return {
    ...which,
    ok: failure === null,
    firstMs: first.atMs === null ? null : Math.round(first.atMs - startedMs),
    tookMs: Math.round(world.monotonicMs() - startedMs),
    answer: textOf(answer),
    failure,
  };
}

function failureIn({ stop, failure }: ModelAnswer): Tested["failure"] {
  if (failure !== null) return { code: failure.code, message: failure.message };
  return stop === "aborted" ? { code: "timeout", message: `It did not answer within ${PATIENCE_MS / 1000} s.` } : null;
}

function textOf({ content }: ModelAnswer): string {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}

function times(firstMs: number | null, tookMs: number): string {
  return firstMs === null ? `${tookMs} ms` : `first word after ${firstMs} ms, ${tookMs} ms in all`;
}
