/**
 * Workspace files and skills as they are on the disk, read again only when they were touched.
 *
 * Invariant: nothing here stops a turn. A file that cannot be read says why in its own place, one that is missing is not
 * there, and no link leads out of the workspace.
 */
import { constants, lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { join, sep } from "node:path";
import { errnoOf, messageOf, sha256, type World } from "@holdfast/base";
import { frontMatter } from "./front-matter.ts";
import type { Wanted } from "./kinds.ts";

export interface FoundFile {
  /** Relative to the workspace. */
  readonly name: string;
  /** "" where it could not be read. */
  readonly text: string;
  readonly bytes: number;
  /** SHA-256 of its bytes; "" where it could not be read. */
  readonly sha256: string;
  /** Why it could not be read, or null. */
  readonly problem: string | null;
}
export interface FoundSkill {
  readonly name: string;
  readonly description: string;
  /** Relative to the workspace. */
  readonly path: string;
}
export interface Found {
  readonly files: readonly FoundFile[];
  /** By name. */
  readonly skills: readonly FoundSkill[];
}

/** What is there of what is wanted. Never rejects. */
export type ReadWorkspace = (workspace: string, wanted: Wanted) => Promise<Found>;

const FILE_BYTES_MAX = 2 * 1024 * 1024;
const SKILLS_MAX = 200;
/** A file changed so shortly before it was read may be changed once more within the same tick of its file system's clock. */
const RACY_MS = 2_000;

interface Kept {
  readonly stamp: string;
  readonly file: FoundFile;
}

/** Reads from the disk. What it has read it keeps, for as long as the numbers of the file stay as they were. */
export function diskWorkspace(world: Pick<World, "nowMs">): ReadWorkspace {
  const kept = new Map<string, Kept>();
  const read = async (workspace: string, name: string): Promise<FoundFile | undefined> => {
    const place = placeOf(workspace, name);
    if (place === undefined || place.kind === "refused") return place?.file;
    const { path, stamp, mtimeMs } = place;
    const known = kept.get(path);
    if (known?.stamp === stamp) return known.file;
    const file = await readOne(path, name);
    if (file !== undefined && world.nowMs() - mtimeMs > RACY_MS) kept.set(path, { stamp, file });
    else kept.delete(path);
    return file;
  };
  return async (workspace, { files, skills }) => {
    const found = await Promise.all(files.map((name) => read(workspace, name)));
    return {
      files: found.filter((file) => file !== undefined),
      skills: skills ? await skillsIn(workspace, read) : [],
    };
  };
}

type Place =
  | { readonly kind: "file"; readonly path: string; readonly stamp: string; readonly mtimeMs: number }
  | { readonly kind: "refused"; readonly file: FoundFile };

/** Where a name leads, and the numbers that change when anybody touches what is there; undefined: nothing to read. */
function placeOf(workspace: string, name: string): Place | undefined {
  try {
    const parts = name.split("/");
    let path = workspace;
    let stat: Stats | undefined;
    for (const part of parts) {
      path = join(path, part);
      stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return undefined;
      if (!stat.isSymbolicLink()) continue;
      path = realpathSync(path);
      if (!path.startsWith(realpathSync(workspace) + sep))
        return refused(name, "a link that leads out of the workspace");
      stat = lstatSync(path);
    }
    if (stat === undefined || stat.isDirectory()) return undefined;
    if (!stat.isFile()) return refused(name, "not a regular file");
    if (stat.size > FILE_BYTES_MAX) return refused(name, `${stat.size} bytes; at most ${FILE_BYTES_MAX} are read`);
    const stamp = [stat.dev, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(":");
    return { kind: "file", path, stamp, mtimeMs: stat.mtimeMs };
  } catch (error) {
    return isMissing(error) ? undefined : refused(name, reasonOf(error));
  }
}

function refused(name: string, problem: string): Extract<Place, { readonly kind: "refused" }> {
  return { kind: "refused", file: { name, text: "", bytes: 0, sha256: "", problem } };
}

/** `path` is a real one: a link that took its place since is not followed, and nothing waits for the other end of a pipe. */
async function readOne(path: string, name: string): Promise<FoundFile | undefined> {
  try {
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if (!(await handle.stat()).isFile()) return refused(name, "not a regular file").file;
    const bytes = await handle.readFile();
    const text = new TextDecoder().decode(bytes).replaceAll("\r\n", "\n").replaceAll("\0", "\uFFFD").trimEnd();
    return { name, text, bytes: bytes.length, sha256: sha256(bytes), problem: null };
  } catch (error) {
    return isMissing(error) ? undefined : refused(name, reasonOf(error)).file;
  }
}

function isMissing(error: unknown): boolean {
  const code = errnoOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

function reasonOf(error: unknown): string {
  return errnoOf(error) ?? messageOf(error);
}

type ReadFile = (workspace: string, name: string) => Promise<FoundFile | undefined>;

/** Each folder of `skills/` with a SKILL.md that can be read. */
async function skillsIn(workspace: string, read: ReadFile): Promise<readonly FoundSkill[]> {
  const folders = foldersIn(join(workspace, "skills")).slice(0, SKILLS_MAX);
  const found = await Promise.all(folders.map((folder) => read(workspace, `skills/${folder}/SKILL.md`)));
  return found.flatMap((file, index) =>
    file === undefined || file.problem !== null ? [] : [skillOf(file, folders[index] ?? "")],
  );
}

function foldersIn(path: string): readonly string[] {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
    return readdirSync(path)
      .filter((name) => !name.startsWith(".") && !/\p{Cc}/u.test(name))
      .sort();
  } catch {
    // No such folder, or none that can be listed: there are no skills.
    return [];
  }
}

function skillOf({ name: path, text }: FoundFile, folder: string): FoundSkill {
  const fields = frontMatter(text);
  return { name: oneLine(fields.get("name") ?? folder), description: oneLine(fields.get("description") ?? ""), path };
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
}
