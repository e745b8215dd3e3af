/** The to-do story offers its next step once its first one has been answered: a page that teaches by being used. */
import type { Text } from "../text/en.ts";
import { LANGUAGES } from "../text/language.ts";
import type { Row } from "./rows.ts";

/** The words of the next step, or null when there is none to offer. */
export function nextStep(rows: readonly Row[], text: Text): string | null {
  const said = rows.flatMap((row) => (row.kind === "mine" ? [row.text] : []));
  const begun = Object.values(LANGUAGES).some((language) => said[0] === language.empty.first);
  const answered = rows.findLast((row) => row.kind !== "restarted")?.kind === "answer";
  return begun && answered && said.length === 1 ? text.empty.second : null;
}
