/** Names that people give to entries. Pure. */
import { type Entry, fieldsOf } from "./entry.ts";

/** The last label of an entry counts; an empty one takes it back. */
export function noteLabel(labels: Map<string, string>, entry: Entry): void {
  const { targetId, label } = fieldsOf(entry);
  if (entry.type !== "label" || typeof targetId !== "string") return;
  if (typeof label === "string" && label !== "") labels.set(targetId, label);
  else labels.delete(targetId);
}
