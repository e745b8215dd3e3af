/**
 * `holdfast session search`: where a text was said, in all conversations of a home. Reads transcripts one after the other.
 * Invariant: only regular files inside the sessions directories are opened, whatever rows or links name.
 */
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { messageOf } from "@holdfast/base";
import { isSessionId } from "@holdfast/sessions";
import { type SearchHit, searchTranscript } from "@holdfast/sessions/internal";
import type { CommandContext } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { homeOf } from "../home.ts";
import { type Palette, printable } from "../output.ts";
import { progressOn } from "../progress.ts";
import { sessionsDirectory, settingsOf } from "../settings.ts";
import { agentsToRead, type StoredSession, storedSessions } from "../stores.ts";
import { counted } from "../table.ts";

export interface SearchCommand {
  readonly limit: number;
}

/** A transcript to look through; without a row it was ended, or no index knows it. */
interface Place {
  readonly file: string;
  readonly bytes: number;
  readonly archived: boolean;
  readonly sessionId: string;
  readonly key: string | null;
}

interface Find extends SearchHit {
  readonly key: string | null;
  readonly sessionId: string;
  readonly file: string;
  readonly archived: boolean;
}

/** `{ hits, more, searched, unreadable }`; for people each conversation is printed as soon as it was looked through. */
export async function search(context: CommandContext, text: string, { limit }: SearchCommand): Promise<ExitCode> {
  if (text.trim() === "") throw new CliError("usage", { what: "Name the text to look for." });
  const { output } = context;
  const places = await placesOf(context);
  const show = progressOn(context);
  const total = places.reduce((sum, { bytes }) => sum + bytes, 0);
  const done = { bytes: 0, searched: 0, more: false };
  const hits: Find[] = [];
  const unreadable: { readonly file: string; readonly why: string }[] = [];
  for (const { bytes, ...place } of places) {
    if (output.closed || done.more) break;
    const onProgress = (read: number): void => show("searching", done.bytes + Math.min(read, bytes), total + 1);
    try {
      const found = await searchTranscript(place.file, text, { limit: limit - hits.length, onProgress });
      const finds = found.hits.map((hit): Find => ({ ...place, key: place.key ?? found.key, ...hit }));
      done.more = found.matches > finds.length;
      hits.push(...finds);
      show("searching", total, total);
      if (finds.length > 0) output.line(described(finds, output.paint));
    } catch (error) {
      unreadable.push({ file: place.file, why: messageOf(error) });
      output.note(`${place.file}: ${messageOf(error)}`);
    }
    done.bytes += bytes;
    done.searched += 1;
  }
  show("searching", total, total);
  const { more, searched } = done;
  output.result({ hits, more, searched, unreadable }, (paint) => paint.dim(summary(hits.length, done)));
  return unreadable.length === 0 ? EXIT.ok : EXIT.problems;
}

/** Conversations in the order of `session list`, then those without a row. */
async function placesOf(context: CommandContext): Promise<readonly Place[]> {
  const home = homeOf(context);
  const { rows } = await storedSessions(context);
  const agents = agentsToRead(await settingsOf(home), context.options.agent);
  const named = new Set(rows.map(({ file }) => file));
  const lists = await Promise.all(agents.map((id) => transcriptsIn(sessionsDirectory(home, id), named)));
  const files = new Map(lists.flat().map((place) => [place.file, place]));
  const rowed = rows.flatMap((row) => inRow(row, files.get(row.file)));
  return [...rowed, ...[...files.values()].filter(({ file }) => !named.has(file))];
}

function inRow({ key, sessionId }: StoredSession, place: Place | undefined): readonly Place[] {
  return place === undefined ? [] : [{ ...place, key, sessionId }];
}

/** Beside transcripts there are journals of the index and files that were repaired: `named` by no row, and with a dot. */
async function transcriptsIn(directory: string, named: ReadonlySet<string>): Promise<readonly Place[]> {
  const folders = [directory, join(directory, "archive")].filter((folder) => existsSync(folder));
  const places: Place[] = [];
  for (const folder of folders) {
    const archived = folder !== directory;
    const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
    const plain = new Set(names.map(({ name }) => name).filter((name) => /\.jsonl(\.gz)?$/.test(name)));
    for (const name of [...plain].toSorted()) {
      // A packed one is read under its plain name; both are there while it is being packed.
      if (name.endsWith(".gz") && plain.has(name.slice(0, -3))) continue;
      const file = join(folder, name.replace(/\.gz$/, ""));
      if (!archived && !named.has(file) && !isSessionId(basename(file, ".jsonl"))) continue;
      const { size } = await stat(join(folder, name));
      places.push({ file, bytes: size, archived, sessionId: basename(name).split(".", 1)[0] ?? name, key: null });
    }
  }
  return places;
}

function described(finds: readonly Find[], paint: Palette): string {
  const { key, sessionId, archived } = finds[0]!;
  const where = `${printable(key ?? sessionId)}${archived ? " (archived)" : ""}`;
  const lines = finds.map(({ id, timestamp, role, current, excerpt }) => {
    const branch = current ? "" : paint.yellow(" other branch");
    const time = timestamp.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*$/, "$1 $2");
    return `  ${paint.dim(printable(`${id}  ${time}`))}  ${printable(role)}${branch}  ${printable(excerpt)}`;
  });
  return [paint.bold(where), ...lines].join("\n");
}

function summary(count: number, { more, searched }: { readonly more: boolean; readonly searched: number }): string {
  const rest = more ? "; there are more, see --limit" : "";
  return `${count} found in ${counted(searched, "conversation")}${rest}`;
}
