import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { placeIn, readOnlyRefusal } from "../../src/tools/paths.ts";
import { temporaryWorkspace, type Workspace } from "../support/workspace.ts";

/** A workspace with an outside to reach for, and links that lead there. */
async function tricky(): Promise<Workspace> {
  const space = await temporaryWorkspace();
  const outside = join(space.root, "outside");
  await mkdir(outside);
  await writeFile(join(outside, "secret.txt"), "secret");
  await mkdir(space.inside("notes"));
  await writeFile(space.inside("notes", "a.txt"), "a");
  await symlink(join(outside, "secret.txt"), space.inside("link-to-file"));
  await symlink(outside, space.inside("link-to-directory"));
  await symlink("../outside", space.inside("relative-link"));
  await symlink(join(space.root, "nowhere"), space.inside("dangling"));
  await symlink("loop", space.inside("loop"));
  await symlink("notes", space.inside("good-link"));
  return space;
}

describe("refused", () => {
  const cases: readonly (readonly [string, (space: Workspace) => string, RegExp])[] = [
    ["empty", () => "", /empty/],
    ["blank", () => "  ", /empty/],
    ["NUL", () => "notes/a\0.txt", /NUL/],
    ["the parent", () => "..", /outside the workspace/],
    ["beside the workspace", () => "../outside/secret.txt", /outside the workspace/],
    ["out and further", () => "notes/../../outside/new.txt", /outside the workspace/],
    ["a sibling whose name begins alike", () => "../workspace-2/a", /outside the workspace/],
    ["absolute", () => "/etc/passwd", /outside the workspace/],
    ["absolute, missing", () => "/nowhere/at/all", /outside the workspace/],
    ["absolute, in the outside", (space) => join(space.root, "outside", "secret.txt"), /outside the workspace/],
    ["a link to a file outside", () => "link-to-file", /outside the workspace/],
    ["through a link to a directory outside", () => "link-to-directory/secret.txt", /outside the workspace/],
    ["a new file through such a link", () => "link-to-directory/new/deep.txt", /outside the workspace/],
    ["through a relative link", () => "relative-link/new.txt", /outside the workspace/],
    ["a link that leads nowhere", () => "dangling", /symbolic link that leads nowhere/],
    ["below a link that leads nowhere", () => "dangling/x", /symbolic link that leads nowhere/],
    ["a link to itself", () => "loop", /symbolic link that leads nowhere/],
    ["below a file", () => "notes/a.txt/b", /through a file/],
    ["a directory", () => "notes", /directory/],
    ["the workspace itself", () => ".", /directory/],
    ["a device", () => "/dev/null", /outside the workspace/],
  ];
  test.each(cases)("%s", async (_name, path, text) => {
    await using space = await tricky();
    const place = await placeIn(space.path, path(space));
    expect(place).toMatchObject({ kind: "refused", text: expect.stringMatching(text) });
  });
});

describe("inside", () => {
  const cases: readonly (readonly [string, (space: Workspace) => string, string, boolean])[] = [
    ["a file", () => "notes/a.txt", "notes/a.txt", true],
    ["spelled around", () => "./notes/../notes//a.txt", "notes/a.txt", true],
    ["absolute", (space) => space.inside("notes", "a.txt"), "notes/a.txt", true],
    ["through a link that stays inside", () => "good-link/a.txt", "notes/a.txt", true],
    ["new", () => "new.txt", "new.txt", false],
    ["new, in new directories", () => "x/y/z.txt", "x/y/z.txt", false],
    ["a name that begins with dots", () => "..notes.txt", "..notes.txt", false],
  ];
  test.each(cases)("%s", async (_name, path, shown, there) => {
    await using space = await tricky();
    const place = await placeIn(space.path, path(space));
    if (place.kind === "refused") throw new Error(place.text);
    expect([place.shown, place.path, place.stat !== null]).toEqual([shown, space.inside(shown), there]);
  });

  test("a workspace that is itself reached through a link", async () => {
    await using space = await tricky();
    await symlink(space.path, join(space.root, "alias"));
    const place = await placeIn(join(space.root, "alias"), "notes/a.txt");
    expect(place).toMatchObject({ kind: "inside", path: space.inside("notes", "a.txt") });
  });
});

describe("read-only by intention, also for root", () => {
  test.each([
    ["a file without the owner's write bit", "notes/a.txt", 0o444, "notes/a.txt"],
    ["a new file in such a directory", "notes/new.txt", 0o500, "notes"],
    ["an existing file in it", "notes/a.txt", 0o500, "notes"],
    ["a new directory in it", "notes/deep/er/new.txt", 0o500, "notes"],
  ])("%s", async (_name, path, mode, closed) => {
    await using space = await tricky();
    await chmod(space.inside(closed), mode);
    const place = await placeIn(space.path, path);
    if (place.kind === "refused") throw new Error(place.text);
    expect(await readOnlyRefusal(place)).toMatch(/^permission denied: notes(\/a\.txt)?\/? is read-only$/);
    await chmod(space.inside(closed), 0o700);
    const again = await placeIn(space.path, path);
    if (again.kind === "refused") throw new Error(again.text);
    expect(await readOnlyRefusal(again)).toBeNull();
  });

  test("the workspace itself", async () => {
    await using space = await tricky();
    await chmod(space.path, 0o500);
    const place = await placeIn(space.path, "new.txt");
    await chmod(space.path, 0o700);
    if (place.kind === "refused") throw new Error(place.text);
    await chmod(space.path, 0o500);
    expect(await readOnlyRefusal(place)).toBe("permission denied: ./ is read-only");
    await chmod(space.path, 0o700);
  });
});
