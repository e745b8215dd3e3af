/**
 * A tool that creates tickets at a help desk, and can say after a crash whether it did.
 * TICKETS_URL names the desk: POST /tickets creates one, GET /tickets?ref=... finds it by our reference.
 */
const desk = process.env.TICKETS_URL ?? "http://127.0.0.1:8080";
const refOf = ({ meeting, item }: Record<string, unknown>): string => `${meeting}#${item}`;

async function find(ref: string): Promise<{ number: string } | undefined> {
  const answer = await fetch(`${desk}/tickets?ref=${encodeURIComponent(ref)}`);
  if (!answer.ok) throw new Error(`the desk answers ${answer.status}`);
  return ((await answer.json()) as { number: string }[])[0];
}

export default {
  spec: {
    name: "create_ticket",
    description: "Create a ticket for one item of a meeting.",
    parameters: {
      type: "object",
      properties: { meeting: { type: "string" }, item: { type: "integer" }, title: { type: "string" } },
      required: ["meeting", "item", "title"],
    },
  },
  // What repeating means: a probe can tell.
  effect: "checkable",
  // The business act: the same meeting and item is the same ticket, whatever its title, in every conversation.
  identity: refOf,
  check: (args: Record<string, unknown>) =>
    typeof args.meeting === "string" && Number.isInteger(args.item) && typeof args.title === "string"
      ? null
      : "expected meeting (text), item (whole number), title (text)",
  // After a crash: changes nothing, and says no more than the desk does.
  async probe(args: Record<string, unknown>) {
    const ref = refOf(args);
    const ticket = await find(ref);
    if (ticket === undefined) return { kind: "absent", evidence: { ref }, says: `The desk has no ticket ${ref}.` };
    const outcome = { ok: true, text: `Ticket ${ticket.number} is there.` };
    return { kind: "happened", outcome, evidence: { ref, number: ticket.number } };
  },
  // The effect. `key` is the same in every attempt; a desk that honours it never makes two.
  async run(args: Record<string, unknown>, _evidence: object, { key, signal }: { key: string; signal: AbortSignal }) {
    const body = JSON.stringify({ ref: refOf(args), title: args.title });
    const headers = { "content-type": "application/json", "idempotency-key": key };
    const answer = await fetch(`${desk}/tickets`, { method: "POST", headers, body, signal });
    if (!answer.ok) return { ok: false, text: `The desk answers ${answer.status}: ${await answer.text()}` };
    const { number } = (await answer.json()) as { number: string };
    return { ok: true, text: `Ticket ${number} was created.` };
  },
};
