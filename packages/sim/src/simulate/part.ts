/** A worker of the simulator: plays the parts that its parent sends, one after the other, and sends what came of them. */
import { enumerate } from "./enumerate.ts";
import type { Job } from "./parts.ts";
import { scenarioNamed } from "./all-scenarios.ts";

process.on("message", ({ scenario, options }: Job) => {
  void enumerate(scenarioNamed(scenario), options).then((done) => process.send?.(done));
});

// Nobody is left to tell.
process.on("disconnect", () => process.exit());
