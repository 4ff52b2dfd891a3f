// What a file is, by its content: the first bytes, and its name only where the content does not tell.

/** `machine`: a machine description; `host`: hwloc's XML, which tells the inside of a host. */
export type Kind = "job" | "machine" | "trace" | "source" | "fabric" | "host";

/** So many bytes tell what a file is. */
export const HEAD = 64 * 1024;

/** One line for whoever has something else. */
export const WELCOME = "a job file or a machine file (YAML or JSON), a trace (.ht), an archive of sources (tar, tar.gz, zip), "
  + "a network (output of ibnetdiscover, Slurm's topology.conf, SimGrid's XML, GraphML, METIS, an edge list), or hwloc's XML of a host (lstopo host.xml)";

const MAGIC: readonly (readonly [number, string, Kind])[] = [
  [0, "HAMTRACE", "trace"], [0, "\x1f\x8b", "source"], [0, "PK\x03\x04", "source"], [257, "ustar", "source"],
];
const ROOTS: readonly (readonly [RegExp, Kind])[] = [[/<topology[\s>/]/, "host"], [/<(?:[\w.]+:)?(?:graphml|platform)[\s>/]/, "fabric"]];
const OF_A_JOB = ["application", "applications", "search", "budget"];
const OF_A_MACHINE = ["host_speed", "link_bandwidth", "nodes"];
const INFINIBAND = /^(?:(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|(?:Switch|Ca)\s)/i;
const SLURM = /^(?:switchname|blockname)=/i;
const NUMBERS = /^\s*\d+(?:,\d+)?(?:\s+\d+(?:,\d+)?)*\s*$/;
const OF_A_NETWORK = /\.(?:edges|graph|metis|golf|graphml)$/i;

/** Tells what a file is; null where it is nothing that the form can use. */
export function recognise(head: Uint8Array, name: string): Kind | null {
  const bytes = Array.from(head.subarray(0, 512), (byte) => String.fromCharCode(byte)).join("");
  for (const [at, mark, kind] of MAGIC) if (bytes.startsWith(mark, at)) return kind;
  if (head.includes(0)) return null;
  // The end of the head may lie within a character, and is none of the file's mistakes.
  const text = new TextDecoder().decode(head).replace(/^\uFEFF/, "");
  if (/^\s*</.test(text)) return ROOTS.find(([root]) => root.test(text))?.[1] ?? null;
  if (/^\s*[{[]/.test(text)) return ofNames(new Set(Array.from(text.matchAll(/"(\w+)"\s*:/g), ([, key = ""]) => key)));
  const lines = text.split(/\r?\n/).filter((line) => line.trim() && !line.startsWith("#"));
  const first = lines[0] ?? "";
  if (INFINIBAND.test(first) || SLURM.test(first)) return "fabric";
  const whole = head.length < HEAD ? lines : lines.slice(0, -1);
  if (whole.length && whole.every((line) => NUMBERS.test(line) || (OF_A_NETWORK.test(name) && line.startsWith("%")))) return "fabric";
  return ofNames(new Set(lines.flatMap((line) => /^["']?(\w+)["']?\s*:(?:\s|$)/.exec(line)?.[1] ?? [])));
}

/** By the names that stand in a document. */
function ofNames(names: ReadonlySet<string>): Kind | null {
  if (OF_A_JOB.some((name) => names.has(name))) return "job";
  if (OF_A_MACHINE.every((name) => names.has(name))) return "machine";
  return names.has("edges") ? "fabric" : null;
}

/** Files in the order in which they are looked at: what fills the form comes before what goes into it. */
export const ORDER: readonly Kind[] = ["job", "machine", "fabric", "host", "trace", "source"];
