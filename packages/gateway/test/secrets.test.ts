/** What commands inherit: nothing that filled the configuration, and no known key under whatever name. */
import { expect, test } from "vitest";
import { checkText } from "../src/config/check.ts";
import { withoutSecrets } from "../src/secrets.ts";

test("variables of the configuration and copies of known keys stay behind; what every command needs goes along", () => {
  const env = {
    PATH: "/bin",
    HOME: "/home/ana",
    OPENAI: "sk-1234567890",
    COPY: "sk-1234567890",
    MINE: "a-gateway-token-of-ours",
    EMPTY: "",
    EDITOR: "vi",
  };
  const text = `{ agents: { defaults: { workspace: "\${HOME}/notes" } },
    models: { providers: { p: { baseUrl: "http://127.0.0.1/\${OPENAI}" }, q: { apiKey: "sk-1234567890" } } } }`;
  const checked = checkText(text, env);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  expect(checked.config.expanded).toEqual(["HOME", "OPENAI"]);
  expect(withoutSecrets(env, { config: checked.config, known: [env.MINE, ""] })).toEqual({
    PATH: "/bin",
    HOME: "/home/ana",
    EMPTY: "",
    EDITOR: "vi",
  });
});
