// What becomes of a file that was dropped or chosen: it is told by its content and goes where it belongs.
import { post, upload, Problem } from "../lib/api.ts";
import { count, plural } from "../lib/format.ts";
import type { Catalogue, Json } from "../lib/types.ts";
import { isDocument } from "./document.ts";
import type { Form } from "./form.ts";
import { initialFor } from "./purposes.ts";
import { HEAD, ORDER, recognise, WELCOME, type Kind } from "./recognise.ts";
import { within, withinTogether } from "./sizes.ts";
import type { StoredMachine, StoredProgram } from "./stored.ts";

/** What came of files: what is in them and, for each look at the job, what that means for it. */
export interface Received {
  said: string;
  form?: string;
  yaml?: string;
  change?: Partial<Form>;
  /** The text of a job file. */
  text?: string;
  /** An archive that still wants to be told how it is built. */
  archive?: File;
}

interface MachineFiles {
  machine: StoredMachine | null;
  network: { format: string; hosts: number; switches: number; cables: number } | null;
  host: { cores: number; levels: number[] } | null;
  assumed: Record<string, string>;
}

type Told = (share: number) => void;

/** Files that belong together: a network and the inside of its hosts are one machine. */
export interface Batch { kind: Kind; files: File[] }

/** Tells what files are. Of what the form cannot use a line says what it can. */
export async function sorted(files: readonly File[]): Promise<{ batches: Batch[]; unknown: string[] }> {
  const found: { kind: Kind; file: File }[] = [];
  const unknown: string[] = [];
  for (const file of files) {
    const head = await file.slice(0, HEAD).arrayBuffer().catch(() => null);
    if (!head) {
      unknown.push(`${file.name} cannot be read; if it is a folder, pack it into a tar or zip archive first.`);
      continue;
    }
    if (!head.byteLength) {
      unknown.push(`${file.name} is empty.`);
      continue;
    }
    const kind = recognise(new Uint8Array(head), file.name);
    if (kind) found.push({ kind, file });
    else unknown.push(`${file.name} cannot be used here. You can drop ${WELCOME}.`);
  }
  const of = (kind: Kind) => found.filter((one) => one.kind === kind).map((one) => one.file);
  const hosts = of("host");
  const fabrics = of("fabric");
  const together = fabrics.length === 1 && hosts.length === 1;
  const batches = ORDER.flatMap((kind): Batch[] => {
    if (together && kind === "host") return [];
    return of(kind).map((file) => ({ kind, files: together && kind === "fabric" ? [file, ...hosts] : [file] }));
  });
  return { batches, unknown };
}

/** Hands a file to the service, or to the form. */
export async function receive({ kind, files }: Batch, form: Form, catalogue: Catalogue, told: Told, signal: AbortSignal): Promise<Received> {
  const [file] = files;
  if (!file) throw new Problem(0, "There is no file.");
  const { limits } = catalogue;
  if (kind === "job") {
    within(file, limits.job_file);
    return { said: `${file.name} fills the form, in place of what was there.`, text: await textOf(file, signal) };
  }
  if (kind === "machine") {
    within(file, limits.job_file);
    return machineOf(file, signal);
  }
  if (kind === "source") {
    within(file, limits.program);
    return {
      said: `${file.name} is taken for the sources of a program.`, archive: file, change: { source: "stored" },
      form: " Say under Application how it is built and run, then upload it.",
      yaml: " The form asks how it is built and run: edit the job as a form, and drop the archive there.",
    };
  }
  if (kind === "trace") {
    within(file, limits.program);
    const sent = new FormData();
    sent.set("trace", file);
    const { id, name, ranks } = await upload<StoredProgram>("/applications", sent, told, signal);
    return {
      said: `${file.name}: ${name} with ${plural(ranks ?? 0, "rank")}`, change: { source: "stored", application: id },
      form: " is the application.", yaml: ` is stored. In the job file write application: {id: ${id}}.`,
    };
  }
  await withinTogether(files, limits);
  return cluster(kind, files, form, told, signal);
}

/** A machine description in a file of its own: as in a job file, `auto` is the network model of one that names none. */
async function machineOf(file: File, signal: AbortSignal): Promise<Received> {
  const { document } = await post<{ document: Json }>("/jobs/read", await textOf(file, signal), {}, signal);
  const name = file.name.replace(/\.\w+$/, "") || file.name;
  const machine = isDocument(document) ? { network: "auto", ...document } : document;
  return chosen(await post<StoredMachine>("/machines", { name, machine }, {}, signal), `${file.name}: `, "");
}

/** What a file says; reading a large one may be stopped as sending it may. */
async function textOf(file: File, signal: AbortSignal): Promise<string> {
  const text = await file.text();
  signal.throwIfAborted();
  return text;
}

/** The network of a cluster, the inside of its hosts, or both. */
async function cluster(kind: Kind, files: readonly File[], form: Form, told: Told, signal: AbortSignal): Promise<Received> {
  const sent = new FormData();
  const [file, host] = files;
  if (file) sent.set(kind === "host" ? "host" : "fabric", file);
  if (host) sent.set("host", host);
  if (kind === "host" && form.machineSource === "stored" && form.machine) sent.set("base", form.machine);
  if (kind === "fabric") for (const [name, value] of typedNumbers(form)) sent.set(name, value);
  const answer = await upload<MachineFiles>("/machines/files", sent, told, signal);
  const inside = answer.host ? `${plural(answer.host.cores, "core")} per host${answer.host.levels.length > 1 ? ` (${answer.host.levels.join(" × ")})` : ""}` : "";
  const begin = `${files.map((one) => one.name).join(" and ")}: `;
  if (!answer.machine) {
    const cores = String(answer.host?.cores ?? "");
    return { said: `${begin}${inside}.`, change: { cores }, yaml: ` In the job file write cores_per_host: ${cores} under machine.` };
  }
  const { network } = answer;
  const parts = network
    ? [plural(network.hosts, "host"), `${count(network.switches)} ${network.switches === 1 ? "switch" : "switches"}`, plural(network.cables, "cable")]
    : [];
  const assumed = Object.entries(answer.assumed).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  return chosen(answer.machine, `${begin}${[...parts, inside].filter((one) => one).join(", ")}. `, assumed.length ? ` Not in the file, so assumed: ${assumed.join(", ")}` : "");
}

function chosen(machine: StoredMachine, begin: string, assumed: string): Received {
  return {
    said: `${begin}It is stored as ${machine.name}`,
    change: { machineSource: "stored", machine: machine.id, fixed: machine.network !== null },
    form: ` and is the job's machine.${assumed && `${assumed}; change them under Machine.`}`,
    yaml: `. In the job file write machine: {id: ${machine.id}}.${assumed && `${assumed}.`}`,
  };
}

/** Numbers of the machine that somebody typed or wrote in a job file before: they count before those of a file. */
export function typedNumbers(form: Form): [string, string][] {
  const initial = initialFor(form.purpose);
  const numbers = [["host_speed", "hostSpeed"], ["link_bandwidth", "bandwidth"], ["link_latency", "linkLatency"], ["switch_latency", "switchLatency"], ["cores_per_host", "cores"]] as const;
  const { machine } = form.rest;
  if (form.machineSource === "file" && isDocument(machine)) {
    return numbers.flatMap(([name]): [string, string][] => (["string", "number"].includes(typeof machine[name]) ? [[name, String(machine[name])]] : []));
  }
  if (form.machineSource !== "described") return [];
  return numbers.flatMap(([name, field]): [string, string][] => (form[field].trim() && form[field] !== (form.filled[field] ?? initial[field]) ? [[name, form[field].trim()]] : []));
}
