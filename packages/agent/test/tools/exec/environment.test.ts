import { expect, test } from "vitest";
import { commandEnvironment } from "../../../src/tools/exec/environment.ts";

test("keys, tokens and our own variables stay behind; the rest goes along", () => {
  const secrets = [
    "OPENAI_API_KEY",
    "APIKEY",
    "GH_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "PGPASSWORD",
    "my_credentials",
    "OPENAI_KEY",
    "my_signing_keys",
    "DB_PASS",
    "HOLDFAST_HOME",
    "npm_config__authToken",
  ];
  const plain = { PATH: "/bin", HOME: "/root", LANG: "C.UTF-8", EDITOR: "vi", KEYBOARD: "us" };
  const env = { ...Object.fromEntries(secrets.map((name) => [name, "x"])), ...plain, GONE: undefined };
  expect(commandEnvironment(env)).toEqual(plain);
});
