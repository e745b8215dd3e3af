/**
 * An agent's workspace: made at first need, with the files that tell the agent how to work in it and one example to try things
 * on. What exists is never touched, and what somebody removed does not come back.
 */
import { realpathSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { type TemplateLanguage, workspaceTemplates } from "@holdfast/agent";
import { errnoOf, messageOf } from "@holdfast/base";
import type { AgentConfig } from "./config/schema.ts";
import { GatewayError } from "./errors.ts";

const ENGLISH = `# Meeting notes

Planning the spring fair, Tuesday.

We have the hall from nine o'clock. Ana reminded us that last year the posters were late.

- [ ] Write the invitation and send it to all parents
- [ ] Book the sound system and try it once in the hall
- [ ] Make a list of helpers with their times
`;

const CHINESE = `# 会议纪要

讨论了春季市集。场地九点开门，去年海报印得太晚。

- 待办：写邀请函并发给所有家长
- 待办：预订音响设备，并在场地试一次
- 待办：列出志愿者名单和各自的时间
`;

type Env = Readonly<Record<string, string | undefined>>;

/** That of the locale, in the order in which the C library looks. */
function languageOf(env: Env): TemplateLanguage {
  const locale = [env.LC_ALL, env.LC_MESSAGES, env.LANG].find((value) => value !== undefined && value !== "") ?? "";
  return /^zh/i.test(locale) ? "zh" : "en";
}

/** Name → text of what a new workspace has. */
export function newFiles(env: Env): Readonly<Record<string, string>> {
  const language = languageOf(env);
  return { ...workspaceTemplates(language), "notes/meeting.md": language === "zh" ? CHINESE : ENGLISH };
}

/** Where the workspace is: `~` is the user's folder, anything relative belongs to the home. */
export function workspaceOf(home: string, agent: Pick<AgentConfig, "id" | "workspace">, isDefault: boolean): string {
  const { workspace } = agent;
  if (workspace === null) return join(home, isDefault ? "workspace" : `workspace-${agent.id}`);
  if (workspace === "~" || workspace.startsWith("~/")) return join(homedir(), workspace.slice(1));
  return isAbsolute(workspace) ? workspace : join(home, workspace);
}

/** Folders of the home in which no workspace may lie. */
const SENSITIVE = ["agents", "actions", "index"];

/** Why this folder cannot be a workspace of this home, or null: keys, transcripts and queues are not an agent's files. */
export function workspaceFlaw(home: string, path: string): string | null {
  const [ours, asked] = [realOf(home), realOf(path)];
  const holds = (folder: string, inner: string): boolean =>
    folder === inner || inner.startsWith(folder === sep ? sep : folder + sep);
  if (holds(asked, ours)) return "it holds Holdfast's own files, among them keys and transcripts";
  const within = SENSITIVE.find((name) => holds(join(ours, name), asked));
  return within === undefined ? null : `it lies in ${within}/ of the home, among Holdfast's own files`;
}

/** Where it leads, as far as it is there. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const code = errnoOf(error);
    if (dirname(path) === path || (code !== "ENOENT" && code !== "ENOTDIR")) return resolve(path);
    return join(realOf(dirname(path)), basename(path));
  }
}

/**
 * Makes the folder (0700). One that was made here gets all first files, one that was there and is empty those that tell the
 * agent how to work. Throws `workspace_unusable`.
 */
export async function makeWorkspace(home: string, path: string, env: Env = process.env): Promise<void> {
  const why = workspaceFlaw(home, path);
  if (why !== null) throw new GatewayError("workspace_unusable", { path, why });
  try {
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    const files = made === undefined ? workspaceTemplates(languageOf(env)) : newFiles(env);
    if (await isNew(path)) await furnish(path, files);
  } catch (error) {
    throw new GatewayError("workspace_unusable", { path, why: messageOf(error) }, error);
  }
}

/** There while the first files are being written: a start that was killed in between goes on. */
const UNFINISHED = ".holdfast-new";

async function isNew(path: string): Promise<boolean> {
  const names = await readdir(path);
  return names.length === 0 || names.includes(UNFINISHED);
}

async function furnish(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(join(path, UNFINISHED), "", { mode: 0o600 });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true, mode: 0o700 });
    await writeNew(join(path, name), text);
  }
  await rm(join(path, UNFINISHED));
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}
