/** What a power loss and a failed sync leave of a file, against the words of POSIX and of what kernels do. */
import { describe, expect, test } from "vitest";
import {
  afterFailedSync,
  afterPowerLoss,
  type DataLoss,
  EMPTY,
  renewed,
  synced,
  written,
} from "../../src/disk/content.ts";

const bytes = (text: string): Buffer => Buffer.from(text);
const kept = synced(written(EMPTY, 0, bytes("kept\n")));
const more = written(kept, 5, bytes("more\n"));

describe("power loss", () => {
  test.each<[DataLoss, string]>([
    ["lost", "kept\n"],
    ["kept", "kept\nmore\n"],
    ["zeros", "kept\n\0\0\0\0\0"],
    [{ torn: 2 }, "kept\nmo"],
    [{ torn: 99 }, "kept\nmore\n"],
  ])("un-synced bytes %j", (loss, left) => {
    expect(afterPowerLoss(more, loss).cache.toString()).toBe(left);
  });

  test.each<DataLoss>(["lost", "kept", "zeros", { torn: 0 }])("takes nothing that was synced: %j", (loss) => {
    expect(afterPowerLoss(synced(more), loss).cache.toString()).toBe("kept\nmore\n");
  });
});

describe("a failed sync", () => {
  test("pages that count as written can be read, and are NULs on the disk even after a later sync", () => {
    const failed = afterFailedSync(more, "clean");
    expect(failed.cache.toString()).toBe("kept\nmore\n");
    const later = synced(written(failed, 10, bytes("later\n")));
    expect(afterPowerLoss(later, "kept").cache.toString()).toBe("kept\n\0\0\0\0\0later\n");
    expect(synced(renewed(failed, 5)).durable.toString()).toBe("kept\nmore\n");
  });

  test("pages may be dropped at once, or wait for the next sync", () => {
    expect(afterFailedSync(more, "gone").cache.toString()).toBe("kept\n");
    expect(synced(afterFailedSync(more, "kept")).durable.toString()).toBe("kept\nmore\n");
  });
});
