/**
 * One measurement in a process of its own: `probe.ts <group> <name> <arguments as JSON>` prints its numbers as JSON.
 * Only the group that is asked for is loaded.
 */
const [, , group = "", name = "", given = "[]"] = process.argv;

type Probe = (...args: readonly unknown[]) => Promise<Readonly<Record<string, number>>>;

const groups: Readonly<Record<string, () => Promise<object>>> = {
  open: () => import("./probes/open.ts"),
  append: () => import("./probes/append.ts"),
  rows: () => import("./probes/rows.ts"),
};

const loaded = (await groups[group]?.()) as Readonly<Record<string, Probe>> | undefined;
const probe = loaded?.[name];
if (probe === undefined) throw new Error(`no measurement ${group} ${name}`);
const values = await probe(...(JSON.parse(given) as unknown[]));
console.log(JSON.stringify(values));
