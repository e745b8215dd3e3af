/**
 * `npm run campaign -- --races`: two, four and eight gateways recover the turns of some stories at the same time; the table of the six
 * properties goes to stdout and to docs/guide/durability.md. Returns where one of them broke, and how.
 */
import { writeGuide } from "./guide.ts";
import { PROPERTIES, racesOf, shared } from "./races.ts";
import { RACED, STORIES } from "./stories.ts";

const SEEDS = [1, 2, 3];
const EVERY = 20;

export async function runRaces(): Promise<readonly string[]> {
  const rows: string[] = [];
  const broken: string[] = [];
  for (const story of STORIES.filter(({ name }) => RACED.includes(name)).map(shared)) {
    for (const count of [2, 4, 8]) {
      const { places, races, found } = await racesOf(story, { every: EVERY, count, seeds: SEEDS });
      const cells = PROPERTIES.map((property) =>
        found[property].length === 0 ? "holds" : `broken (${found[property].length})`,
      );
      rows.push(`| ${[story.name, count, places, races, ...cells].join(" | ")} |`);
      broken.push(
        ...PROPERTIES.flatMap((property) =>
          found[property].map((what) => `${story.name}, ${count}: ${property}: ${what}`),
        ),
      );
      console.error(rows.at(-1));
    }
  }
  const heads = ["story", "gateways", "places", "races", ...PROPERTIES];
  const table = [
    `| ${heads.join(" | ")} |`,
    `|---|${heads
      .slice(1)
      .map(() => "---:|")
      .join("")}`,
    ...rows,
  ].join("\n");
  console.log(table);
  writeGuide("races", table);
  return broken;
}
