/** Server-sent events, as the HTML standard reads them. */
import { expect, test } from "vitest";
import { serverEvents } from "../src/sse.ts";

async function read(text: string): Promise<unknown> {
  const bytes = async function* () {
    yield new TextEncoder().encode(text);
  };
  return Array.fromAsync(serverEvents(bytes()));
}

test("id and data; the id stays until the next one", async () => {
  expect(await read("id: e:1\ndata: {}\n\ndata: x\n\nid: e:2\ndata:y\n\n")).toEqual([
    { id: "e:1", data: "{}" },
    { id: "e:1", data: "x" },
    { id: "e:2", data: "y" },
  ]);
});

test("comments and unknown fields are passed over, several data lines are joined", async () => {
  expect(await read(": beat\n\nevent: e\nretry: 3\ndata: a\ndata: b\n\n")).toEqual([{ id: null, data: "a\nb" }]);
});

test("an event that was cut is dropped", async () => {
  expect(await read("data: a\n\ndata: b\n")).toEqual([{ id: null, data: "a" }]);
});
