/**
 * Gzip as a simulated disk has it: the same bytes come out, but nothing is left to another thread, which the machine could
 * not wait for.
 */
import { Transform } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Disk } from "@holdfast/sessions/internal";

/** Takes all there is, and gives all it makes of it at the end. */
function atOnce(make: (all: Buffer) => Buffer): Transform {
  const taken: Buffer[] = [];
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      taken.push(chunk);
      done();
    },
    flush(done) {
      try {
        done(null, make(Buffer.concat(taken)));
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
}

export const packing: Disk["packing"] = {
  pack: () => atOnce((all) => gzipSync(all)),
  unpack: () => atOnce((all) => gunzipSync(all)),
};
