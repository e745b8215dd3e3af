/**
 * A transcript on its way out: as it is, as messages, or for people. Reads only; every format streams.
 * Invariant: what is written depends on nothing but the file and the options.
 */
import { LIMITS } from "@holdfast/base";
import { htmlOf } from "../formats/html.ts";
import { markdownOf } from "../formats/markdown.ts";
import { flatOf, jsonOf } from "../formats/messages.ts";
import { surveyOf } from "../formats/survey.ts";
import type { Language } from "../formats/words.ts";
import { type ByteSource, openSource } from "../reading/source.ts";
import { type Disk, realDisk } from "../stores/file/disk.ts";
import { refuseOther } from "../transcript.ts";

export const EXPORT_FORMATS = ["json", "jsonl", "markdown", "html", "flat"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportOptions {
  readonly format: ExportFormat;
  /** What `session` of the JSON export says beside `id`: key, row. */
  readonly about?: Readonly<Record<string, unknown>>;
  /** Heading for people; left out: the session's own name. */
  readonly title?: string;
  readonly language?: Language;
  /** Channel of messages that do not say their own, in the flat layout. */
  readonly channel?: string;
}

/** Pieces of the document, in order. Throws `file_missing`, `not_a_file`, `read_failed`, `not_a_transcript`. */
export async function* exportTranscript(
  file: string,
  options: ExportOptions,
  disk: Disk = realDisk,
): AsyncGenerator<string | Buffer> {
  await using source = await openSource(file, disk);
  if (options.format === "jsonl") {
    yield* bytesOf(source);
    return;
  }
  const survey = await surveyOf(source);
  refuseOther(file, survey.whole);
  const forPeople = { title: options.title ?? null, language: options.language ?? "en" };
  const { id, timestamp, cwd } = survey.whole.header.header ?? {};
  switch (options.format) {
    case "json":
      yield* jsonOf(survey, { id, timestamp, cwd, ...options.about });
      break;
    case "flat":
      yield* flatOf(survey, options.channel);
      break;
    case "markdown":
      yield* markdownOf(survey, forPeople);
      break;
    case "html":
      yield* htmlOf(survey, forPeople);
      break;
  }
}

async function* bytesOf(source: ByteSource): AsyncGenerator<Buffer> {
  for (let at = 0; at < source.size; at += LIMITS.readChunkBytes) {
    const bytes = await source.read(at, LIMITS.readChunkBytes);
    if (bytes.length === 0) return;
    yield bytes;
  }
}
