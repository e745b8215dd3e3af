/** Bootstraps by hash. */
import { expect, test } from "vitest";
import { keptInMemory } from "../../../src/context/bootstrap/kept.ts";

const owner = { id: "s", file: null };
const bootstrap = (hash: string) => ({ hash, sections: [], files: [] });

test("the longest unused one goes first", async () => {
  const kept = keptInMemory(2);
  await kept.put(owner, bootstrap("a"));
  await kept.put(owner, bootstrap("b"));
  expect(await kept.get(owner, "a")).toEqual(bootstrap("a"));
  await kept.put(owner, bootstrap("c"));
  expect(await kept.get(owner, "b")).toBeUndefined();
  expect(await kept.get(owner, "a")).toEqual(bootstrap("a"));
});
