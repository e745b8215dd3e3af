/** In which of our two languages people are answered. Pure. */

export function isChinese(text: string): boolean {
  return /\p{Script=Han}/u.test(text);
}

const STEPS = [
  [60_000, 1_000, "s", "秒"],
  [3_600_000, 60_000, "min", "分钟"],
  [86_400_000, 3_600_000, "h", "小时"],
  [Number.POSITIVE_INFINITY, 86_400_000, "d", "天"],
] as const;

/** `3 min ago`, `3 分钟前`. */
export function agoText(thenMs: number, nowMs: number, chinese: boolean): string {
  const passed = Math.max(0, nowMs - thenMs);
  if (passed < 1_000) return chinese ? "刚才" : "just now";
  const [, unitMs, english, han] = STEPS.find(([limitMs]) => passed < limitMs) ?? STEPS[3];
  const count = Math.floor(passed / unitMs);
  return chinese ? `${count} ${han}前` : `${count} ${english} ago`;
}
