/**
 * The dashboard's files, the sign-in, and plain pages for the moments without a dashboard.
 * Pages hold no script and no text from outside.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { GatewayError } from "../errors.ts";
import { parsed } from "./api.ts";
import type { HttpParts } from "./server.ts";

function plain(title: string, ...lines: readonly string[]): string {
  const body = lines.map((line) => `<p>${line}</p>`).join("\n");
  const style = "font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${title} · Holdfast</title></head>
<body style="${style}"><h1>${title}</h1>
${body}</body></html>
`;
}

export const NOT_BUILT = plain(
  "The dashboard is not built",
  "The gateway runs and its API answers. To see the chat page, run <code>npm run build</code> once and restart the gateway.",
  "网关已在运行，接口可用。要打开聊天页面，请先运行一次 <code>npm run build</code>，然后重启网关。",
);
export const LINK_USED = plain(
  "This sign-in link does not work any more",
  "It was used already, is more than a day old, or belongs to an earlier start. If you are signed in, open <a href='/'>the dashboard</a>; else <code>holdfast status</code> prints a new link.",
  "这个登录链接已用过、已超过一天，或属于上一次启动。若已登录，请打开<a href='/'>主页</a>；否则 <code>holdfast status</code> 会打印新的链接。",
);

export async function pageRoutes(app: FastifyInstance, parts: HttpParts): Promise<void> {
  const { dashboardRoot, access } = parts;
  app.get("/signin", { config: { open: true } }, (request, reply) => {
    // Previews and checks of links ask for the head; only opening the link uses it up.
    if (request.method === "HEAD") return reply.redirect("/", 303);
    const { token } = parsed(z.object({ token: z.string().prefault("") }), request.query);
    try {
      reply.header("set-cookie", access.signIn(token));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return reply.code(401).type("text/html; charset=utf-8").send(LINK_USED);
    }
    return reply.redirect("/", 303);
  });

  const built = dashboardRoot !== null && existsSync(join(dashboardRoot, "index.html"));
  if (built) await register(app, dashboardRoot);
  app.get("/*", { config: { open: true } }, (request, reply) => {
    const path = pathOf(request);
    if (/^\/(api|v1)(\/|$)/.test(path) || (!built && isFile(path))) throw notFound(path);
    if (!built) return reply.code(503).type("text/html; charset=utf-8").send(NOT_BUILT);
    return reply.sendFile(isFile(path) ? path : "index.html");
  });
  app.setNotFoundHandler((request) => {
    throw notFound(pathOf(request));
  });
}

/** Names of assets hold a hash of their content; the page itself is asked for again each time. */
async function register(app: FastifyInstance, root: string): Promise<void> {
  const { default: staticFiles } = await import("@fastify/static");
  await app.register(staticFiles, {
    root,
    serve: false,
    cacheControl: false,
    setHeaders(response, path) {
      const hashed = path.startsWith(join(root, "assets"));
      response.header("cache-control", hashed ? "public, max-age=31536000, immutable" : "no-cache");
    },
  });
}

const isFile = (path: string): boolean => /\.[a-z0-9]+$/i.test(path);

function pathOf(request: FastifyRequest): string {
  return request.url.split("?")[0] ?? "/";
}

function notFound(path: string): GatewayError {
  return new GatewayError("not_found", { path: path.slice(0, 200) });
}
