/** `every`: starts a timer that must not keep the process alive. `sleep`: one that must. */
import { realWorld } from "@holdfast/base";

const world = realWorld();
if (process.argv[2] === "every") world.every(60_000, () => {});
else void world.sleep(20).then(() => console.log("slept"));
