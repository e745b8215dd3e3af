/**
 * From what was found in a workspace to the text that goes into the prompt, within its limits. Pure.
 * Invariant: the same files, limits and run give the same bytes; whoever reads them learns what was cut or left out, and how
 * to read it.
 */
import { sha256 } from "@holdfast/base";
import { cutTo } from "./cut.ts";
import { approximateTextTokens } from "@holdfast/sessions";
import type { InjectedFile, SystemSection } from "../report/types.ts";
import type { Found, FoundFile, FoundSkill } from "./files.ts";
import { isMemory } from "./kinds.ts";

export interface BootstrapLimits {
  /** Most characters (UTF-16 units) of one file, and of all of them together. */
  readonly maxChars: number;
  readonly totalMaxChars: number;
}

export interface Bootstrap {
  /** Skills before memory, so that what changes often stands last. */
  readonly sections: readonly SystemSection[];
  readonly files: readonly InjectedFile[];
  /** SHA-256 of the sections; two bootstraps with one hash are the same bytes. */
  readonly hash: string;
  /** The window was too small for what the limits allow. */
  readonly isSqueezed?: boolean;
}

const SKILL_CHARS_MAX = 500;
/** Less room than this is not worth a beginning. */
const ROOM_MIN = 200;
export const NO_ROOM = "no room";

export function compose({ files, skills }: Found, { maxChars, totalMaxChars }: BootstrapLimits): Bootstrap {
  const room = { left: totalMaxChars };
  const lasting = place(
    files.filter(({ name }) => !isMemory(name)),
    maxChars,
    room,
  );
  const listed = skillSection(skills, maxChars, room);
  const memory = place(
    files.filter(({ name }) => isMemory(name)),
    maxChars,
    room,
  );
  const placed = [...lasting, ...memory].map(({ file }) => file);
  const [first, last] = [lasting, memory].map((group) => group.flatMap(({ section }) => section));
  const sections = [...(first ?? []), ...listed, ...(last ?? []), ...leftOut(placed)];
  return { sections, files: placed, hash: hashOf(sections) };
}

/** Of a window, files get this share at most: a conversation has to have room beside them. */
const WINDOW_SHARE = 0.35;

/** The same for a model whose window may be small. `window`: in tokens. */
export function composeFor(found: Found, limits: BootstrapLimits, window: number): Bootstrap {
  const whole = compose(found, limits);
  const text = whole.sections.map((one) => one.text).join("\n\n");
  const most = window * WINDOW_SHARE;
  // There are never more tokens than characters, so that most prompts need not be counted.
  if (text.length <= most) return whole;
  const tokens = approximateTextTokens(text);
  if (tokens <= most) return whole;
  return {
    ...compose(found, { ...limits, totalMaxChars: Math.floor((text.length * most) / tokens) }),
    isSqueezed: true,
  };
}

export function hashOf(sections: readonly SystemSection[]): string {
  return sha256(JSON.stringify(sections.map(({ name, text }) => [name, text])));
}

interface Room {
  left: number;
}
interface Placed {
  readonly file: InjectedFile;
  readonly section: readonly SystemSection[];
}

/** Each file takes from the room what it needs, in order. An empty one is not there. */
function place(files: readonly FoundFile[], maxChars: number, room: Room): readonly Placed[] {
  return files.flatMap((file): Placed[] => {
    const { name, text: whole, problem, bytes, sha256: sha } = file;
    const about = { name, bytes, sha256: sha };
    if (problem !== null)
      return [{ file: { ...about, chars: 0, cut: problem }, section: [section(name, `(not read: ${problem})`)] }];
    if (whole === "") return [];
    const most = Math.min(maxChars, room.left);
    if (whole.length > most && most < ROOM_MIN) return [{ file: { ...about, chars: 0, cut: NO_ROOM }, section: [] }];
    const { text, left } = cutTo(whole, most, name);
    room.left -= text.length;
    const cut = left > 0 ? `${left} of ${whole.length} characters left out` : null;
    return [{ file: { ...about, chars: text.length, cut }, section: [section(name, text)] }];
  });
}

function section(name: string, text: string): SystemSection {
  return { name, text: `# ${name}\n${text}` };
}

const SKILLS_INTRO = "Before a task that one of these describes, read its file and follow it:";

function skillSection(skills: readonly FoundSkill[], maxChars: number, room: Room): readonly SystemSection[] {
  const most = Math.min(maxChars, room.left) - ROOM_MIN;
  const lines = skills.map(skillLine);
  let used = SKILLS_INTRO.length;
  const fits = lines.findIndex((line) => {
    used += line.length + 1;
    return used > most;
  });
  const shown = fits < 0 ? lines : lines.slice(0, fits);
  if (shown.length === 0) return [];
  const more = shown.length < lines.length ? [`(and ${lines.length - shown.length} more in skills/)`] : [];
  const text = [SKILLS_INTRO, ...shown, ...more].join("\n");
  room.left -= text.length;
  return [section("Skills", text)];
}

function skillLine({ name, description, path }: FoundSkill): string {
  const [shortName, short] = [name, description].map((text) => text.slice(0, SKILL_CHARS_MAX).toWellFormed());
  return `- ${shortName} (${path})${short === "" ? "" : `: ${short}`}`;
}

function leftOut(files: readonly InjectedFile[]): readonly SystemSection[] {
  const names = files.filter(({ cut }) => cut === NO_ROOM).map(({ name }) => name);
  if (names.length === 0) return [];
  return [section("Not shown", `For lack of room: ${names.join(", ")}. Read them when they may matter.`)];
}
