/**
 * Which messages ask for a stop. Pure.
 * Invariant: only a message that is nothing but such a word stops anything; "stop the music at ten" is a message like any other.
 */

const WORDS: ReadonlySet<string> = new Set([
  ...["/stop", "stop", "wait", "abort", "halt", "cancel", "please stop", "stop please", "stop it"],
  ...["停", "停下", "停止", "停一下", "先停", "等等", "等一下", "取消", "先别改", "别改了", "先别动", "住手", "中止"],
  ...["停止して", "止めて", "やめて", "ストップ", "待って", "중지", "멈춰", "그만"],
  ...["стоп", "остановись", "alto", "para", "arrête", "stopp", "halt bitte"],
]);

/** Whatever a person puts around a word without meaning anything by it. */
const AROUND = /^[\s"'“”‘’「」]+|[\s"'“”‘’「」.,!?;:…。，！？；：～~]+$/gu;

export function isStop(text: string): boolean {
  if (text.length > 64) return false;
  const word = text.normalize("NFKC").replace(AROUND, "").replace(/\s+/gu, " ").toLowerCase();
  return WORDS.has(word);
}
