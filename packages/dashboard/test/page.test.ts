/** The page as a person meets it: a real browser, the real build, a gateway played by the test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Chain } from "./support/entries.ts";
import { FakeGateway, KEY } from "./support/fake-gateway.ts";
import { buildPage, hasBrowser, openBrowser } from "./support/page.ts";

describe.skipIf(!hasBrowser())("in a browser", () => {
  let root = "";
  let browser: Browser;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "holdfast-dashboard-"));
    [browser] = await Promise.all([openBrowser(), buildPage(root)]);
  });
  afterAll(async () => {
    await browser?.close();
    await rm(root, { recursive: true, force: true });
  });

  async function openPage(prepare: (gateway: FakeGateway) => void = () => {}, locale = "en-US"): Promise<Opened> {
    const gateway = new FakeGateway(root);
    prepare(gateway);
    const address = await gateway.listen();
    const context = await browser.newContext({ locale });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
    });
    const strangers: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(address)) strangers.push(request.url());
    });
    onTestFinished(async () => {
      await context.close();
      await gateway.close();
    });
    await page.goto(address);
    return { gateway, page, complaints, strangers };
  }

  test("a message: sent, accepted, saved; an answer: provisional, then saved; nothing from elsewhere", async () => {
    const { gateway, page, complaints, strangers } = await openPage();
    await page.getByRole("textbox").fill("hello");
    await page.keyboard.press("Enter");
    await page.locator('.mine [data-ring="accepted"]').waitFor();
    const [post] = gateway.posts;
    expect(post).toMatchObject({ key: KEY, text: "hello" });

    const chain = new Chain();
    gateway.turn("began", "i1");
    gateway.save(chain.user("hello", `web:local:${KEY}:${post?.clientKey}`));
    await page.locator('.mine [data-ring="saved"]').waitFor();
    gateway.stream("e2", "Hel**lo**");
    await page.locator(".draft strong").waitFor();
    expect(await page.locator(".draft").evaluate((draft) => getComputedStyle(draft).borderStyle)).toBe("dashed");
    gateway.save(chain.answer("Hel**lo** you"));
    gateway.turn("ended", "i1");
    await page.locator(".answer", { hasText: "Hello you" }).waitFor();
    expect(await page.locator(".draft").count()).toBe(0);
    expect(await page.locator(".mine").count()).toBe(1);
    expect(await page.locator('[aria-live="polite"]').textContent()).toBe("Hello you");
    expect([complaints, strangers]).toEqual([[], []]);
  });

  test("a cut stream and a restarted gateway lose nothing and show nothing twice", async () => {
    const chain = new Chain();
    const { gateway, page } = await openPage((fake) => fake.entries.push(chain.user("one")));
    await vi.waitFor(() => expect(gateway.listeners()).toBe(1));
    gateway.save(chain.answer("two"));
    await page.getByText("two", { exact: true }).first().waitFor();
    expect(gateway.cutStreams()).toBe(1);
    gateway.save(chain.answer("three"));
    await page.locator(".answer", { hasText: "three" }).waitFor();
    expect(await page.locator(".answer").count()).toBe(2);

    expect(await page.locator(".rehearsal").count()).toBe(1);
    gateway.epoch = "e2";
    gateway.rehearsal = false; // it was given a model meanwhile
    gateway.cutStreams();
    gateway.entries.push(chain.answer("four"));
    await page.locator(".answer", { hasText: "four" }).waitFor();
    expect(await page.locator(".answer").count()).toBe(3);
    expect(await page.locator(".mine").count()).toBe(1);
    await page.locator(".restarted", { hasText: "The gateway was restarted" }).waitFor();
    await page.locator(".heading .model", { hasText: "openai/gpt-5.2" }).waitFor();
    expect(await page.locator(".rehearsal").count()).toBe(0);
  });

  test("a failed answer says why in the page's language and is asked again as a new message", async () => {
    const chain = new Chain();
    const message = { role: "assistant", content: [], stopReason: "error", errorMessage: "p/m answered 401: no." };
    const { gateway, page } = await openPage((fake) => {
      fake.entries.push(chain.user("你好"));
      fake.entries.push(
        chain.entry({ type: "message", message, answers: ["e1"], stopped: "model_failed", failure: "auth" }),
      );
    }, "zh-CN");
    const failure = page.locator('.notice[data-failed="true"]');
    expect(await failure.textContent()).toMatch(/服务商拒绝了密钥.*p\/m answered 401: no\./);
    await failure.getByRole("button", { name: "重新发送" }).click();
    await vi.waitFor(() => expect(gateway.posts).toMatchObject([{ text: "你好" }]));
  });

  test("a message that meets a busy gateway is sent again under its key, also after a reload", async () => {
    const { gateway, page } = await openPage((fake) => {
      fake.refuseNext = 1_000;
    });
    await page.getByRole("textbox").fill("keep me");
    await page.keyboard.press("Enter");
    await vi.waitFor(() => expect(gateway.posts.length).toBeGreaterThan(0));
    await page.locator('.mine [data-ring="sending"]').waitFor();
    gateway.refuseNext = 0;
    await page.reload();
    await page.locator('.mine [data-ring="accepted"]').waitFor();
    expect(new Set(gateway.posts.map((post) => post.clientKey)).size).toBe(1);
    expect(gateway.items).toHaveLength(1);
  });

  test("Chinese: wording, examples, and an input method that uses Enter", async () => {
    const { gateway, page } = await openPage(undefined, "zh-CN");
    await page.getByRole("button", { name: "读一下会议纪要，整理出待办并保存" }).waitFor();
    const field = page.getByRole("textbox", { name: "消息" });
    await field.focus();
    await compose(page, "刚才第二项待办");
    expect(gateway.posts).toEqual([]);
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.insertText("能不能再拆细一点？");
    await page.keyboard.press("Enter");
    await vi.waitFor(() => expect(gateway.posts[0]?.text).toBe("刚才第二项待办\n能不能再拆细一点？"));
    expect(await field.inputValue()).toBe("");
    expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
  });

  test("a draft survives a reload, and the language that was chosen too", async () => {
    const { page } = await openPage();
    await page.getByRole("button", { name: "中文" }).click();
    await page.getByRole("textbox").fill("half a thought");
    await page.reload();
    await page.getByRole("textbox", { name: "消息" }).waitFor();
    expect(await page.getByRole("textbox").inputValue()).toBe("half a thought");
  });

  test("text of answers is data: no markup, no script, no foreign picture, no wrong link", async () => {
    const hostile = [
      "<img src=x onerror=\"document.title='pwned'\"> <script>document.title='pwned'</script>",
      "[good](https://example.org) [bad](javascript:document.title='pwned')",
      "![pic](https://example.org/track.png)",
    ].join("\n\n");
    const { page, strangers } = await openPage((fake) => fake.entries.push(new Chain().answer(hostile)));
    await page.locator(".answer").waitFor();
    const links = await page
      .locator(".answer a")
      .evaluateAll((all) => all.map((a) => `${a.getAttribute("href")} ${a.getAttribute("rel")}`));
    expect(links).toEqual([
      "https://example.org noopener noreferrer",
      "https://example.org/track.png noopener noreferrer",
    ]);
    expect(await page.locator(".answer img, .answer script").count()).toBe(0);
    expect(await page.title()).not.toContain("pwned");
    expect(strangers).toEqual([]);
  });

  test("not signed in: says how to get in", async () => {
    const { page } = await openPage((fake) => {
      fake.signedIn = false;
    });
    await page.getByRole("heading", { name: "This page is private" }).waitFor();
    expect(await page.getByRole("textbox").count()).toBe(0);
  });
});

interface Opened {
  readonly gateway: FakeGateway;
  readonly page: Page;
  /** Errors of the page, and what the content policy refused. */
  readonly complaints: readonly string[];
  /** Requests to anywhere but the gateway. */
  readonly strangers: readonly string[];
}

/** Types through an input method: the composition is ended by Enter, which the page must not take for its own. */
async function compose(page: Page, text: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
  const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 229 };
  await session.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...enter });
  await session.send("Input.insertText", { text });
  await session.send("Input.dispatchKeyEvent", { type: "keyUp", ...enter });
}
