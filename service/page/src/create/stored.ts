// Programs and machines that are stored at the service, as the form chooses from them.
import { count, moment, plural } from "../lib/format.ts";
import type { FieldProblem } from "../lib/api.ts";
import type { Form } from "./form.ts";
import type { Application } from "../lib/types.ts";
import type { Newest } from "./purposes.ts";

export interface StoredProgram { id: string; name: string; kind: string; state: Application["state"]; created_at: number; ranks?: number; summary?: { truncated?: boolean } }

export interface StoredMachine {
  id: string;
  name: string;
  machine: {
    nodes: number;
    cores_per_host?: number;
    host_speed: number;
    link_bandwidth: number;
    link_latency?: number;
    switch_latency?: number;
  };
  /** Null where it has none of its own. */
  network: { switches: number; cables: number } | null;
}

/** Files of whoever wrote the job file: commands read them, and here they are dropped. */
const DROPPED: Record<string, string> = {
  "application.source": "is a folder of yours, which the service cannot read: drop an archive of it on this page (tar, tar.gz or zip)",
  "application.trace": "is a file of yours, which the service cannot read: drop it on this page",
  "machine.topology.file": "is a file of yours, which the service cannot read: drop it on this page, and it becomes the job's machine",
};

/** What the service says of a job file, with what can be done about it on the page. */
export function onPage(errors: readonly FieldProblem[]): FieldProblem[] {
  const hasFile = errors.some((one) => one.field === "machine.topology.file");
  return errors
    .filter((one) => !(hasFile && one.field === "machine.nodes" && one.message === "is required")) // the file says how many
    .map((one) => ({ ...one, message: DROPPED[one.field] ?? one.message }));
}

/** What the service says of a job file in which nothing stored is chosen, in the words of the form. */
export function worded(errors: readonly FieldProblem[], { source, application, machineSource, machine }: Form): FieldProblem[] {
  const wanted: Record<string, string | false> = {
    application: source === "stored" && !application && "choose one, or drop a trace or an archive of sources",
    machine: machineSource === "stored" && !machine && "choose one, or drop a file with its network, such as the output of ibnetdiscover",
  };
  return errors.map((one) => ({ ...one, message: wanted[one.field] || one.message }));
}

/** The form, knowing of the stored machine that is chosen whether it has a network. */
export function withFixed(form: Form, machines: readonly StoredMachine[]): Form {
  const found = machines.find((one) => one.id === form.machine);
  return found ? { ...form, fixed: found.network !== null } : form;
}

const STATES: Record<Application["state"], string> = { new: "not captured yet", capturing: "being captured", ready: "", failed: "its capture failed" };

/** What a program is called in a list: by when it came and what became of it, and by its id where all that is another's too. */
export function labelled(programs: readonly StoredProgram[]): [id: string, label: string][] {
  const labels = programs.map(({ name, ranks, created_at, state, summary }) => {
    const facts = [`${ranks ?? "?"} ranks`, moment(created_at), summary?.truncated ? "truncated" : "", STATES[state]];
    return `${name} (${facts.filter((one) => one).join(", ")})`;
  });
  return programs.map(({ id }, i) => {
    const label = labels[i] ?? id;
    return [id, labels.indexOf(label) === labels.lastIndexOf(label) ? label : `${label} ${id}`];
  });
}

/** Lists come newest first; one without a network is no cluster to tune, and one that could not be captured no program. */
export function newestOf(programs: readonly StoredProgram[], machines: readonly StoredMachine[]): Newest {
  const machine = machines.find((one) => one.network);
  return {
    application: programs.find((one) => one.kind !== "builtin" && one.state !== "failed")?.id ?? "",
    machine: machine?.id ?? "",
    fixed: machine !== undefined,
  };
}

const PREFIXES: readonly (readonly [number, string])[] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

/** A quantity with the prefix that keeps its digits few: `100 Gf`. */
export function quantity(value: number, unit: string): string {
  const [scale, prefix] = PREFIXES.find(([size]) => value >= size * 0.9995) ?? [1, ""];
  return `${Number((value / scale).toPrecision(4))} ${prefix}${unit}`;
}

/** What is known of a machine, in a few words each. */
export function factsOf({ machine, network }: StoredMachine): string[] {
  const { nodes, cores_per_host: cores = 1 } = machine;
  const built = network
    ? [...(network.switches ? [`${count(network.switches)} ${network.switches === 1 ? "switch" : "switches"}`] : []), plural(network.cables, "cable")]
    : ["no network of its own"];
  return [
    plural(nodes, "host"), ...built, `${count(cores)} ${cores === 1 ? "core" : "cores"} per host`,
    `${quantity(machine.host_speed, "f")} a core`, `cables of ${quantity(8 * machine.link_bandwidth, "bps")}`,
    `${quantity(machine.link_latency ?? 0, "s")} a cable and ${quantity(machine.switch_latency ?? 0, "s")} a switch`,
  ];
}
