/** Passes the points that argv names, in order, and prints each name after it was passed. */
import { realWorld } from "@holdfast/base";

const world = realWorld();
for (const name of process.argv.slice(2)) {
  world.at(name);
  console.log(name);
}
