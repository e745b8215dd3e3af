/**
 * Before each test file: properties draw from a fixed seed, so that a run says the same today and tomorrow and a landing is
 * never stopped by luck. `HOLDFAST_SEED=<n>` draws another, `HOLDFAST_SEED=random` a new one each time (`npm run long`).
 */
import fc from "fast-check";

const asked = process.env.HOLDFAST_SEED ?? "20260501";
if (asked !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(asked) });
