/** Preloaded with --import: makes the optional native lock module look absent, as on a platform without a prebuilt. */
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "fs-native-extensions") throw new Error("no prebuilt here");
    return next(specifier, context);
  },
});
