/**
 * An MCP server, as a program: a desk with tickets. What it did is written to the file that is named, one line each, so that
 * a test counts effects outside the gateway. With `--http`, it prints its port and speaks streamable HTTP.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [done, mode] = process.argv.slice(2);
const lines = () => (existsSync(done) ? readFileSync(done, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)) : []);
const text = (said, isError = false) => ({ content: [{ type: "text", text: said }], isError });
const note = (tool, args, meta) => {
  appendFileSync(done, `${JSON.stringify({ tool, args, key: meta?.["holdfast/idempotencyKey"] ?? null })}\n`);
};

function desk() {
  const server = new McpServer({ name: "desk", version: "1.0.0" });
  const ref = z.object({ ref: z.string() });
  server.registerTool(
    "find_ticket",
    { description: "Find a ticket.", inputSchema: ref, annotations: { readOnlyHint: true } },
    async (args) => text(lines().some((line) => line.args.ref === args.ref) ? `found ${args.ref}` : `none ${args.ref}`),
  );
  server.registerTool("create_ticket", { description: "Create a ticket.", inputSchema: ref }, async (args, context) => {
    note("create_ticket", args, context.mcpReq._meta);
    return text(`created ${args.ref}`);
  });
  server.registerTool("ring_bell", { description: "Ring the bell.", inputSchema: ref }, async (args, context) => {
    note("ring_bell", args, context.mcpReq._meta);
    return text("rang");
  });
  server.registerTool(
    "set_sign",
    { description: "Set the sign.", inputSchema: ref, annotations: { idempotentHint: true } },
    async (args, context) => {
      note("set_sign", args, context.mcpReq._meta);
      return text("set");
    },
  );
  server.registerTool("break_down", { description: "Ends the server.", inputSchema: ref }, async (args, context) => {
    note("break_down", args, context.mcpReq._meta);
    process.exit(1);
  });
  return server;
}

if (mode === "--http") {
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== "Bearer sesame") return response.writeHead(401).end();
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await desk().connect(transport);
    const body = request.method === "GET" ? undefined : Readable.toWeb(request);
    const url = `http://${request.headers.host}${request.url}`;
    const answer = await transport.handleRequest(
      new Request(url, { method: request.method, headers: request.headers, body, duplex: "half" }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) return response.end();
    Readable.fromWeb(answer.body).pipe(response);
  });
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
} else {
  await desk().connect(new StdioServerTransport());
}
