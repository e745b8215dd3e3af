/** Prints who it is, and is gone. */
import { identityOf } from "@holdfast/base";

process.stdout.write(`${JSON.stringify(identityOf("child"))}\n`);
