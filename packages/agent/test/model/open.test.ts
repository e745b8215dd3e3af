/** From configuration to model: what is refused, with which code, and that nothing secret is in the text. */
import { realWorld } from "@holdfast/base";
import { afterEach, expect, test } from "vitest";
import { AgentError } from "../../src/errors.ts";
import { openModel, type OpenModelOptions, type ProviderConfig } from "../../src/model/open.ts";
import { type OpenAiServer, startOpenAiServer, streams } from "../support/openai-server.ts";
import { collect, request, user } from "../support/requests.ts";

const world = realWorld(() => {});
const started: OpenAiServer[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.close();
});

function open(choice: string, providers: Record<string, ProviderConfig> = {}, key: string | null = null) {
  const options: OpenModelOptions = { choice, providers, apiKeyOf: () => key, world };
  return openModel(options);
}
function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof AgentError) {
      expect(error.message).not.toMatch(/\{\w+\}|sk-secret/);
      return error.code;
    }
    throw error;
  }
  return "none";
}

test.each<[string, Record<string, ProviderConfig>, string]>([
  ["gpt", {}, "model_bad_choice"],
  ["openai/", {}, "model_bad_choice"],
  ["/gpt", {}, "model_bad_choice"],
  ["", {}, "model_bad_choice"],
  ["nobody/m", {}, "model_unknown_provider"],
  ["constructor/m", {}, "model_unknown_provider"],
  ["mine/m", { mine: { apiKey: "sk-secret" } }, "model_unknown_provider"],
  ["mine/m", { mine: { baseUrl: "not a url", apiKey: "sk-secret" } }, "model_unknown_provider"],
  ["mine/m", { mine: { baseUrl: "ftp://host/v1", apiKey: "sk-secret" } }, "model_unknown_provider"],
  ["mine/m", { mine: { baseUrl: "https://u:sk-secret@host/v1", apiKey: "k" } }, "model_unknown_provider"],
  ["mine/m", { mine: { baseUrl: "https://host/v1", api: "carrier-pigeon" } }, "model_api_unsupported"],
  ["mine/m", { mine: { baseUrl: "https://host/v1" } }, "model_key_missing"],
  ["mine/m", { mine: { baseUrl: "https://host/v1", apiKey: "" } }, "model_key_missing"],
  ["mine/m", { mine: { baseUrl: "https://127.evil.example/v1" } }, "model_key_missing"],
  ["openai/gpt-5.2", {}, "model_key_missing"],
  ["mine/m", { mine: { baseUrl: "https://host/v1", apiKey: "sk-secret", models: [{ id: "n" }] } }, "model_bad_choice"],
])("%s with %j: %s", (choice, providers, code) => {
  expect(codeOf(() => open(choice, providers))).toBe(code);
});

test.each<[string, Record<string, ProviderConfig>, string | null]>([
  ["openai/gpt-5.2", {}, "sk-secret"],
  ["openai/gpt-5.2", { openai: { apiKey: "sk-secret" } }, null],
  ["openrouter/meta/llama:free", {}, "sk-secret"],
  ["ollama/llama3", {}, null],
  ["mine/m", { mine: { baseUrl: "http://localhost:8080/v1" } }, null],
  ["rehearsal/offline", {}, null],
])("%s opens and asks nothing", (choice, providers, key) => {
  expect(open(choice, providers, key).name).toBe(choice);
});

test("asks the configured address with the configured key, model and limit", async () => {
  const server = await startOpenAiServer([streams(["ok"])]);
  started.push(server);
  const model = open("mine/a/b", {
    mine: { api: "openai-completions", baseUrl: server.url, apiKey: "sk-1234", models: [{ id: "a/b", maxTokens: 77 }] },
  });
  expect((await collect(model, request([user("hello")]))).text).toBe("ok");
  expect(server.requests[0]?.headers.authorization).toBe("Bearer sk-1234");
  expect(server.requests[0]?.body).toMatchObject({ model: "a/b", max_tokens: 77 });
});
