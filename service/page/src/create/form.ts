// The form's own values, and the job file that they stand for.
import type { Catalogue, Json } from "../lib/types.ts";
import { ALL_FINISH, applying, leftOut, nothing, type Purpose } from "./applies.ts";
import { emptied, given, isDocument, merged, missing, numeric, taken, type Document } from "./document.ts";
import { partsOf, takeParts, takeTerms, termsOf, type PriceFields } from "./price.ts";
import { withUnits } from "./quantities.ts";

export interface Form extends PriceFields {
  purpose: Purpose;
  name: string;
  /** "file": as the job file says it, which the form has no fields for (see `rest`). */
  source: "builtin" | "stored" | "file";
  builtin: string;
  fields: Record<string, string>;
  ranks: string;
  application: string;
  machineSource: "described" | "stored" | "file";
  machine: string;
  /** Whether the stored machine that is chosen has a network. */
  fixed: boolean;
  nodes: string;
  degree: string;
  cores: string;
  hostSpeed: string;
  bandwidth: string;
  linkLatency: string;
  switchLatency: string;
  model: string;
  network: string;
  topology: string[];
  instances: string;
  ordering: string[];
  mapping: string[];
  mpi: string[];
  collectives: string[];
  /** The MPI library that has to run what is found; empty for any. */
  target: string;
  /** "yes": other algorithms for small messages than for large ones. */
  bySize: string;
  trials: string;
  wall: string;
  patience: string;
  until: string;
  seed: string;
  fidelity: string;
  priority: string;
  /** At which multiple of the best a trial is stopped; "null" where all run to their end, as in a job file. */
  cutoffFactor: string;
  cutoff: string;
  completedShare: string;
  /** What a job file says beside all that has a field: it stays as it is. */
  rest: Document;
  /** Numbers of a stored machine as they came into their fields, where nobody typed them. */
  filled: Partial<Record<MachineNumber, string>>;
}

/** The fields of a machine whose numbers count before those of a file with its network. */
export type MachineNumber = "cores" | "hostSpeed" | "bandwidth" | "linkLatency" | "switchLatency";

export const INITIAL: Form = {
  purpose: "",
  name: "my-job",
  source: "builtin", builtin: "cg", fields: { class: "S" }, ranks: "16", application: "",
  machineSource: "described", machine: "", fixed: false, nodes: "16", degree: "4", cores: "1",
  hostSpeed: "100Gf", bandwidth: "40Gbps", linkLatency: "0s", switchLatency: "60ns", model: "smpi-default", network: "",
  topology: ["random", "torus-2d"], instances: "4", ordering: ["original", "hamorder"], mapping: ["by-order"],
  mpi: ["mpich", "ompi"], collectives: ["allreduce", "alltoall"], target: "", bySize: "",
  trials: "100", wall: "", patience: "", until: "", seed: "1", fidelity: "", priority: "normal",
  cutoffFactor: "", cutoff: "", completedShare: "",
  weighed: "", limits: {}, parts: null,
  rest: {}, filled: {},
};

type Known = Pick<Catalogue, "topologies" | "programs">;

/** The job file: of the fields that apply. */
export function documentOf(form: Form, catalogue: Known | null): Document {
  return written(applying(form, catalogue), catalogue);
}

function written(form: Form, catalogue: Known | null): Document {
  const seeded = new Set(catalogue?.topologies.filter((family) => family.uses_seed).map((family) => family.name));
  const instances = numeric(form.instances || "1");
  const known = catalogue?.programs.find((program) => program.name === form.builtin)?.fields;
  const application: Document = form.source === "stored" ? named(form.application) : { builtin: form.builtin };
  if (form.source === "builtin") {
    for (const [name, value] of Object.entries(form.fields)) {
      if (value !== "" && (!known || known.some((field) => field.name === name))) application[name] = numeric(value);
    }
    if (form.ranks.trim()) application["ranks"] = numeric(form.ranks);
  }
  const described: Document = {
    nodes: numeric(form.nodes),
    ...given("degree", form.degree),
    ...(form.cores.trim() !== "1" ? given("cores_per_host", form.cores) : {}),
    ...given("host_speed", form.hostSpeed),
    ...given("link_bandwidth", form.bandwidth),
    ...given("link_latency", form.linkLatency),
    ...given("switch_latency", form.switchLatency),
    ...(form.model ? { model: form.model } : {}),
    ...(form.network ? { network: form.network } : {}),
    ...partsOf(form),
  };
  const listed = (name: string, chosen: string[]) => (chosen.length ? { [name]: chosen } : {});
  const machine = form.machineSource === "stored" ? named(form.machine) : described;
  const own: Document = {
    name: form.name,
    ...(form.source === "file" || !Object.keys(application).length ? {} : { application }),
    ...(form.machineSource === "file" || !Object.keys(machine).length ? {} : { machine }),
    search: {
      ...(form.topology.length ? {
        topology: form.topology.map((name) => (seeded.has(name) && instances !== 1 ? { family: name, instances } : name)),
      } : {}),
      ...listed("ordering", form.ordering),
      ...listed("mapping", form.mapping),
      ...listed("mpi", form.mpi),
      ...(form.collectives.length ? { collectives: Object.fromEntries(form.collectives.map((name) => [name, "all"])) } : {}),
      ...given("target", form.target),
      ...(form.bySize ? { by_size: true } : {}),
    },
    budget: { ...given("trials", form.trials), ...given("wall_seconds", form.wall), ...given("patience", form.patience), ...given("until", form.until) },
    ...given("seed", form.seed),
    ...(form.cutoffFactor === ALL_FINISH ? { cutoff_factor: null } : given("cutoff_factor", form.cutoffFactor)),
    ...given("cutoff", form.cutoff),
    ...given("completed_share", form.completedShare),
    ...(form.fidelity ? { fidelity: form.fidelity } : {}),
    ...termsOf(form),
    ...(form.priority === "normal" ? {} : { priority: form.priority }),
  };
  return merged(keptOf(form), own);
}

/** Of what has no field: without what belongs to a machine or program in whose place a stored one is chosen. */
export function keptOf({ rest, source, application, machineSource, machine }: Form): Document {
  const kept = { ...rest };
  if (source === "stored" && application) delete kept["application"];
  if (machineSource === "stored" && machine) delete kept["machine"];
  return kept;
}

/** The form with what a stored machine says in the fields that describe one; nothing stays of the machine before. */
export function describing(form: Form, description: Document, catalogue: Known): Form {
  const { rest, machineSource, nodes, degree, cores, hostSpeed, bandwidth, linkLatency, switchLatency, model, network, parts } = formOf(fileOf({ machine: description }), catalogue);
  const { machine: _before, ...others } = form.rest;
  const filled = { cores: cores || "1", hostSpeed, bandwidth, linkLatency, switchLatency };
  return withoutHidden({ ...form, machineSource, nodes, degree, ...filled, filled, model, network, parts, rest: { ...others, ...rest } }, catalogue);
}

/** What a job file that says nothing has. */
const UNSAID = { model: "smpi-default", network: "auto" } as const;

/** What a machine says in fields that its form does not show stays as it is, unless it goes without saying. */
function withoutHidden(form: Form, catalogue: Known): Form {
  const hidden = leftOut(form, catalogue);
  const names = (["model", "network"] as const).filter((name) => hidden.has(name));
  const said = Object.fromEntries(names.flatMap((name) => (form[name] && form[name] !== UNSAID[name] ? [[name, form[name]]] : [])));
  const { machine } = form.rest;
  const kept = Object.keys(said).length ? { machine: { ...(isDocument(machine) ? machine : {}), ...said } } : {};
  return { ...form, ...Object.fromEntries(names.map((name) => [name, ""])), rest: { ...form.rest, ...kept } };
}

/** What is stored, by its id; nothing where none is chosen. */
function named(id: string): Document {
  return id ? { id } : {};
}

/** The job file of a stored job, without what goes without saying in a new one, and with units. */
export function fileOf(spec: Document): Document {
  const drop = (value: Json): Json => {
    if (!isDocument(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null).map(([name, inner]) => [name, drop(inner)]));
  };
  const kept = drop(spec) as Document;
  if (spec["cutoff_factor"] === null) kept["cutoff_factor"] = null; // null says: let all finish
  const { machine } = kept;
  // New jobs that say nothing get another network model than older ones had.
  if (isDocument(machine) && !("id" in machine)) kept["machine"] = { network: "fluid", ...machine };
  return withUnits(kept);
}

function isNames(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

const FIELDS = {
  nodes: "nodes", degree: "degree", cores_per_host: "cores", host_speed: "hostSpeed", link_bandwidth: "bandwidth",
  link_latency: "linkLatency", switch_latency: "switchLatency", model: "model", network: "network",
} as const;
const LIMITS = { trials: "trials", wall_seconds: "wall", patience: "patience", until: "until" } as const;
const CUTOFFS: readonly string[] = ["fixed", "adaptive"];
export const PRIORITIES: readonly string[] = ["low", "normal", "high"];
const LISTS = ["ordering", "mapping", "mpi"] as const;

function isStored(document: Document): boolean {
  return typeof document["id"] === "string" && Object.keys(document).length === 1;
}

/** The form that stands for a job file; what has no field, or not in this form, goes into `rest`. `fixed`: stored machines with a network, by id. */
export function formOf(file: Json, catalogue: Known, fixed: ReadonlySet<string> = new Set()): Form {
  if (!isDocument(file)) throw new Error("A job file is a mapping with name, application, machine, search and budget.");
  const rest = structuredClone(file);
  const form: Form = {
    ...INITIAL, ...nothing(), name: "", source: "file", builtin: "", fields: {}, ranks: "", machineSource: "file",
    nodes: "", cores: "", hostSpeed: "", bandwidth: "", linkLatency: "", switchLatency: "", rest,
  };
  form.name = taken(rest, "name") ?? "";
  form.seed = taken(rest, "seed") ?? "";
  if (rest["fidelity"] === "auto" || rest["fidelity"] === "full") form.fidelity = taken(rest, "fidelity") ?? "";
  takeCutoff(form, rest);
  if (PRIORITIES.includes(String(rest["priority"]))) form.priority = taken(rest, "priority") ?? "normal";

  Object.assign(form, takeTerms(rest));

  const { application, machine, search, budget } = rest;
  if (isDocument(application)) {
    const program = catalogue.programs.find((one) => one.name === application["builtin"]);
    if (isStored(application)) {
      form.source = "stored";
      form.application = taken(application, "id") ?? "";
    } else if (program) {
      form.source = "builtin";
      form.builtin = taken(application, "builtin") ?? "";
      form.ranks = taken(application, "ranks") ?? "";
      for (const field of program.fields) {
        const value = taken(application, field.name);
        if (value !== null) form.fields[field.name] = value;
      }
    }
  }
  if (isDocument(machine)) {
    if (isStored(machine)) {
      form.machineSource = "stored";
      form.machine = taken(machine, "id") ?? "";
      form.fixed = fixed.has(form.machine);
    } else if ("nodes" in machine) {
      form.machineSource = "described";
      for (const [name, field] of Object.entries(FIELDS)) form[field] = taken(machine, name) ?? "";
      form.parts = takeParts(machine);
    }
  }
  if (isDocument(search)) {
    for (const name of LISTS) {
      const value = search[name];
      if (!isNames(value)) continue;
      form[name] = value;
      delete search[name];
    }
    form.target = taken(search, "target") ?? "";
    if (typeof search["by_size"] === "boolean") {
      form.bySize = search["by_size"] ? "yes" : "";
      delete search["by_size"];
    }
    takeTopology(form, search, catalogue);
    const { collectives } = search;
    if (isDocument(collectives)) {
      for (const [name, algorithms] of Object.entries(collectives)) {
        if (algorithms !== "all") continue;
        form.collectives.push(name);
        delete collectives[name];
      }
    }
  }
  if (isDocument(budget)) for (const [name, field] of Object.entries(LIMITS)) form[field] = taken(budget, name) ?? "";
  form.rest = emptied(rest);
  return withoutIdle(form, catalogue);
}

function takeCutoff(form: Form, rest: Document): void {
  if (rest["cutoff_factor"] === null) {
    delete rest["cutoff_factor"];
    form.cutoffFactor = ALL_FINISH;
  } else {
    form.cutoffFactor = taken(rest, "cutoff_factor") ?? "";
  }
  if (CUTOFFS.includes(String(rest["cutoff"]))) form.cutoff = taken(rest, "cutoff") ?? "";
  form.completedShare = taken(rest, "completed_share") ?? "";
}

/** What a file says in fields that do not apply stays as it is, since the form does not show them. */
function withoutIdle(form: Form, catalogue: Known): Form {
  const shown = applying(form, catalogue);
  return { ...shown, rest: merged(form.rest, missing(written(form, catalogue), written(shown, catalogue))) };
}

/** Networks fit where those that are drawn by seed have one number of instances and nothing else. */
function takeTopology(form: Form, search: Document, catalogue: Pick<Catalogue, "topologies">): void {
  const value = typeof search["topology"] === "string" ? [search["topology"]] : search["topology"];
  if (!Array.isArray(value)) return;
  const counts = new Set<string>();
  const names: string[] = [];
  for (const one of value) {
    const name = isDocument(one) ? one["family"] : one;
    const family = catalogue.topologies.find((known) => known.name === name);
    if (typeof name !== "string" || !family) return;
    const details: Document = isDocument(one) ? one : { family: name };
    if (Object.keys(details).some((detail) => detail !== "family" && detail !== "instances")) return;
    if (family.uses_seed) counts.add(String(details["instances"] ?? 1));
    else if ("instances" in details) return;
    names.push(name);
  }
  if (counts.size > 1) return;
  form.topology = names;
  form.instances = [...counts][0] ?? "1";
  delete search["topology"];
}
