/** A process that migrates a Pi folder; to be killed. Arguments: from, directory. */
import { realWorld } from "@holdfast/base";
import { openImportPlace } from "../../src/keeping/place.ts";
import { migratePi } from "../../src/migrate/pi.ts";

const [from = "", directory = ""] = process.argv.slice(2);
await using place = await openImportPlace(directory, () => {}, realWorld());
await migratePi(place, { from, agentId: "main" });
console.log("done");
