/**
 * What is done with whole conversations and with files, as acts of a client: asked, done, written down as it was told.
 */
import type { RetentionPolicy } from "@holdfast/sessions";
import { importHistory, openImportPlace, repairTranscript } from "@holdfast/sessions/internal";
import type { Done } from "../history/history.ts";
import { type Client, DIRECTORY } from "./client.ts";

export async function archive(client: Client, key: string): Promise<void> {
  await client.tell({ what: "archive", key, ids: [] }, async () => {
    const store = await client.store();
    const row = await store.get(key);
    client.forget(key);
    const outcome = await store.keep.archive(key);
    return outcome.kind === "kept" ? outcome.why : standing(row?.sessionId, "archived");
  });
}

/** `id`: of a session that no row names any more. */
export async function restore(client: Client, key: string, id?: string): Promise<void> {
  await client.tell({ what: "restore", key, ids: id === undefined ? [] : [id] }, async () => {
    client.forget(key);
    const { row } = await (await client.store()).keep.restore(id ?? key);
    return standing(row.sessionId, "live");
  });
}

export async function reset(client: Client, key: string): Promise<void> {
  await client.tell({ what: "reset", key, ids: [] }, async () => {
    const store = await client.store();
    const ended = (await store.get(key))?.sessionId;
    client.forget(key);
    const { row } = await store.keep.reset(key);
    return { ...standing(row.sessionId, "live"), ...(ended === undefined ? {} : { ended }) };
  });
}

export async function clear(client: Client, key: string): Promise<void> {
  await client.tell({ what: "clear", key, ids: [] }, async () => {
    const store = await client.store();
    const ended = (await store.get(key))?.sessionId;
    client.forget(key);
    const outcome = await store.keep.clear(key);
    if (outcome.kind === "kept" && outcome.why !== "missing") return outcome.why;
    return { ...standing(ended, "gone"), ...(ended === undefined ? {} : { ended }) };
  });
}

/** Retention, and whatever a crash left to do; asked for each of `keys`, because each may be told something. */
export async function cleanup(client: Client, keys: readonly string[], policy: RetentionPolicy): Promise<void> {
  const questions = keys.map((key) => ({ what: "cleanup" as const, key, ids: [] }));
  await client.tellAll(questions, async () => {
    for (const key of keys) client.forget(key);
    const report = await (await client.store()).keep.cleanup(policy);
    return keys.map((key) => {
      const archived = report.archived.find((one) => one.key === key);
      return archived === undefined ? "kept" : standing(archived.sessionId, "archived");
    });
  });
}

/** `ids`: entries that the copy must hold. */
export async function fork(client: Client, from: string, to: string, ids: readonly string[]): Promise<void> {
  await client.tell({ what: "fork", key: to, ids }, async () => {
    const { row } = await (await client.store()).keep.fork(from, to);
    return standing(row.sessionId, "live");
  });
}

/** The file at `path` becomes, or is added to, the conversation of `key`. `ids`: entries of the file. */
export async function importFile(client: Client, key: string, path: string, ids: readonly string[]): Promise<void> {
  await client.tell({ what: "import", key, ids }, async () => {
    const { disk, process } = client;
    await using place = await openImportPlace(DIRECTORY, () => {}, process.world, disk);
    const { sessionId } = await importHistory(place, { file: path, key });
    return standing(sessionId, "live");
  });
}

/** `ids`: entries that can be used. */
export async function repair(client: Client, path: string, ids: readonly string[]): Promise<void> {
  await client.tell({ what: "repair", key: path, ids }, async () => {
    const { repaired, damaged } = await repairTranscript(path, {}, client.process.world, client.disk);
    return { sessionId: "", entries: [], files: [repaired, damaged].filter((file) => file !== null) };
  });
}

function standing(sessionId: string | undefined, place: "live" | "archived" | "gone"): Done {
  return { sessionId: sessionId ?? "", entries: [], place };
}
