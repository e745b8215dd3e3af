/**
 * `credentials.json`: the gateway's token and the providers' keys, 0600, apart from the configuration so that the latter
 * can be shown and kept under git. Invariant: no value of this file reaches a log, an error or a transcript.
 */
import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, isObject, messageOf, readText, tryParse, type World, writeWhole } from "@holdfast/base";
import { GatewayError } from "../errors.ts";

export const CREDENTIALS_FILE = "credentials.json";
/** What a gateway token may be: it travels in a header, and a short one could be guessed. */
export const TOKEN = /^[\x21-\x7e]{16,512}$/;

/** Unknown members are kept when the file is written again. */
export interface Credentials {
  readonly gatewayToken: string | null;
  /** By provider name, as in `models.providers`; one or several. */
  readonly apiKeys: Readonly<Record<string, string | readonly string[]>>;
  /** True when the file could be read by others and was tightened to 0600. */
  readonly tightened: boolean;
}

async function readRaw(file: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readText(file);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return {};
    throw new GatewayError("credentials_invalid", { file, why: `it cannot be read: ${messageOf(error)}` }, error);
  }
  const value = tryParse(text);
  if (!isObject(value)) throw new GatewayError("credentials_invalid", { file, why: "it is not a JSON object" });
  return value;
}

async function tighten(file: string): Promise<boolean> {
  const found = await stat(file).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined || (found.mode & 0o077) === 0) return false;
  await chmod(file, 0o600);
  return true;
}

/** Reads the file; a missing one is empty. Throws `credentials_invalid`. */
export async function readCredentials(home: string): Promise<Credentials> {
  const file = join(home, CREDENTIALS_FILE);
  const raw = await readRaw(file);
  const { gatewayToken: token = "" } = raw;
  if (token !== "" && (typeof token !== "string" || !TOKEN.test(token))) {
    const why = "gatewayToken in it is not 16 to 512 printable ASCII characters without spaces";
    throw new GatewayError("credentials_invalid", { file, why });
  }
  const keys = isObject(raw.apiKeys) ? Object.entries(raw.apiKeys) : [];
  return {
    gatewayToken: token === "" ? null : token,
    apiKeys: Object.fromEntries(keys.flatMap(([name, value]) => (isKeys(value) ? [[name, value]] : []))),
    tightened: await tighten(file),
  };
}

function isKeys(value: unknown): value is string | readonly string[] {
  return typeof value === "string" || (Array.isArray(value) && value.every((one) => typeof one === "string"));
}

/** The gateway's token, made and kept at first need. The home must be in our hands. */
export async function gatewayToken(home: string, credentials: Credentials, world: World): Promise<string> {
  if (credentials.gatewayToken !== null) return credentials.gatewayToken;
  const file = join(home, CREDENTIALS_FILE);
  const token = world.newId("token");
  const raw = await readRaw(file);
  await writeWhole(world, file, `${JSON.stringify({ ...raw, gatewayToken: token }, null, 2)}\n`);
  return token;
}
