/** Two callers stream from one session: each gets the answer to its own message, whole, and nothing of the other's. */
import { say, scriptedModel } from "@holdfast/agent";
import { realWorld } from "@holdfast/base";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { startGateway } from "../support/gateway.ts";
import { tokenOf } from "../support/http.ts";

test("two streamed completions of one user", async () => {
  const world = realWorld();
  const model = scriptedModel(
    (request) =>
      say(JSON.stringify(request.messages.at(-1)?.content).includes("first") ? "one one one" : "two two two"),
    { pieceChars: 2, pauseMs: 1, world },
  );
  const { gateway, home } = await startGateway({ model, http: true });
  const client = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: tokenOf(home), maxRetries: 0 });
  const complete = async (content: string): Promise<string> => {
    const messages = [{ role: "user", content }] as const;
    const stream = await client.chat.completions.create({
      model: "holdfast/main",
      messages: [...messages],
      user: "ana",
      stream: true,
    });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    return text;
  };
  expect(await Promise.all([complete("the first"), complete("the second")])).toEqual(["one one one", "two two two"]);
});
