import { enumerateTurns } from "./enumerate-turns.ts";
import { STORIES } from "./stories.ts";
const opt = JSON.parse(process.argv[2]!);
for (const s of STORIES.filter(({ name }) => !process.argv[3] || new RegExp(process.argv[3]).test(name))) {
  const t = performance.now();
  const r = await enumerateTurns(s, opt);
  console.log(
    s.name,
    r.operations,
    r.points,
    r.secondPoints,
    r.states,
    r.violations.length,
    Math.round(performance.now() - t),
  );
  for (const v of r.violations.slice(0, 3)) console.log("   ", v.point, "\n      ", v.what.join("\n").slice(0, 600));
}
