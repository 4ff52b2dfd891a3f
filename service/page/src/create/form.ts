// The form's own values, and the job file that they stand for.
import type { Catalogue, Json } from "../lib/types.ts";

export interface Form {
  name: string;
  /** "file": as the job file says it, which the form has no fields for (see `rest`). */
  source: "builtin" | "stored" | "file";
  builtin: string;
  fields: Record<string, string>;
  ranks: string;
  application: string;
  machineSource: "described" | "stored" | "file";
  machine: string;
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
  trials: string;
  wall: string;
  patience: string;
  until: string;
  seed: string;
  fidelity: string;
  priority: string;
  /** What a job file says beside all that has a field: it stays as it is. */
  rest: Document;
}

type Document = { [name: string]: Json };

export const INITIAL: Form = {
  name: "my-job",
  source: "builtin", builtin: "cg", fields: { class: "S" }, ranks: "16", application: "",
  machineSource: "described", machine: "", nodes: "16", degree: "4", cores: "1",
  hostSpeed: "100Gf", bandwidth: "40Gbps", linkLatency: "0s", switchLatency: "60ns", model: "smpi-default", network: "",
  topology: ["random", "torus-2d"], instances: "4", ordering: ["original", "hamorder"], mapping: ["by-order"],
  mpi: ["mpich", "ompi"], collectives: ["allreduce", "alltoall"], target: "",
  trials: "100", wall: "", patience: "", until: "", seed: "1", fidelity: "", priority: "normal",
  rest: {},
};

/** Numbers where there are numbers; what is not one goes to the service, which says what is wrong. */
export function numeric(text: string): Json {
  const trimmed = text.trim();
  return /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

export function documentOf(form: Form, catalogue: Pick<Catalogue, "topologies" | "programs"> | null): Document {
  const seeded = new Set(catalogue?.topologies.filter((family) => family.uses_seed).map((family) => family.name));
  const instances = numeric(form.instances || "1");
  const known = catalogue?.programs.find((program) => program.name === form.builtin)?.fields;
  const application: Document = form.source === "stored" ? { id: form.application } : { builtin: form.builtin };
  if (form.source === "builtin") {
    for (const [name, value] of Object.entries(form.fields)) {
      if (value !== "" && (!known || known.some((field) => field.name === name))) application[name] = numeric(value);
    }
    if (form.ranks.trim()) application["ranks"] = numeric(form.ranks);
  }
  const given = (name: string, text: string) => (text.trim() ? { [name]: numeric(text) } : {});
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
  };
  const listed = (name: string, chosen: string[]) => (chosen.length ? { [name]: chosen } : {});
  const own: Document = {
    name: form.name,
    ...(form.source === "file" ? {} : { application }),
    ...(form.machineSource === "file" ? {} : { machine: form.machineSource === "stored" ? { id: form.machine } : described }),
    search: {
      ...(form.topology.length ? {
        topology: form.topology.map((name) => (seeded.has(name) && instances !== 1 ? { family: name, instances } : name)),
      } : {}),
      ...listed("ordering", form.ordering),
      ...listed("mapping", form.mapping),
      ...listed("mpi", form.mpi),
      ...(form.collectives.length ? { collectives: Object.fromEntries(form.collectives.map((name) => [name, "all"])) } : {}),
      ...given("target", form.target),
    },
    budget: { ...given("trials", form.trials), ...given("wall_seconds", form.wall), ...given("patience", form.patience), ...given("until", form.until) },
    ...given("seed", form.seed),
    ...(form.fidelity ? { fidelity: form.fidelity } : {}),
    ...(form.priority === "normal" ? {} : { priority: form.priority }),
  };
  return merged(form.rest, own);
}

/** What the form says over what else a job file said. */
function merged(rest: Document, own: Document): Document {
  const both: Document = { ...rest };
  for (const [name, value] of Object.entries(own)) {
    const below = both[name];
    both[name] = isDocument(below) && isDocument(value) ? merged(below, value) : value;
  }
  return both;
}

/** The job file of a stored job, without what goes without saying in a new one. */
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
  return kept;
}

function isDocument(value: Json | undefined): value is Document {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function isNames(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

const FIELDS = {
  nodes: "nodes", degree: "degree", cores_per_host: "cores", host_speed: "hostSpeed", link_bandwidth: "bandwidth",
  link_latency: "linkLatency", switch_latency: "switchLatency", model: "model", network: "network",
} as const;
const LIMITS = { trials: "trials", wall_seconds: "wall", patience: "patience", until: "until" } as const;
export const PRIORITIES: readonly string[] = ["low", "normal", "high"];
const LISTS = ["ordering", "mapping", "mpi"] as const;

/** The form that stands for a job file; what has no field, or not in this form, goes into `rest`. */
export function formOf(file: Json, catalogue: Pick<Catalogue, "topologies" | "programs">): Form {
  if (!isDocument(file)) throw new Error("A job file is a mapping with name, application, machine, search and budget.");
  const rest = structuredClone(file);
  const form: Form = {
    ...INITIAL, name: "", source: "file", builtin: "", fields: {}, ranks: "", machineSource: "file",
    nodes: "", degree: "", cores: "", hostSpeed: "", bandwidth: "", linkLatency: "", switchLatency: "", model: "", network: "",
    topology: [], instances: "1", ordering: [], mapping: [], mpi: [], collectives: [],
    trials: "", wall: "", patience: "", until: "", seed: "", fidelity: "", priority: "normal", target: "", rest,
  };
  /** A scalar as text for its field; anything else stays where it is. */
  const text = (from: Document, name: string): string | null => {
    const value = from[name];
    if (typeof value !== "string" && typeof value !== "number") return null;
    delete from[name];
    return String(value);
  };
  form.name = text(rest, "name") ?? "";
  form.seed = text(rest, "seed") ?? "";
  if (rest["fidelity"] === "auto" || rest["fidelity"] === "full") form.fidelity = text(rest, "fidelity") ?? "";
  if (PRIORITIES.includes(String(rest["priority"]))) form.priority = text(rest, "priority") ?? "normal";

  const { application, machine, search, budget } = rest;
  if (isDocument(application)) {
    const program = catalogue.programs.find((one) => one.name === application["builtin"]);
    if (typeof application["id"] === "string") {
      form.source = "stored";
      form.application = text(application, "id") ?? "";
    } else if (program) {
      form.source = "builtin";
      form.builtin = text(application, "builtin") ?? "";
      form.ranks = text(application, "ranks") ?? "";
      for (const field of program.fields) {
        const value = text(application, field.name);
        if (value !== null) form.fields[field.name] = value;
      }
    }
  }
  if (isDocument(machine)) {
    if (typeof machine["id"] === "string") {
      form.machineSource = "stored";
      form.machine = text(machine, "id") ?? "";
    } else if ("nodes" in machine) {
      form.machineSource = "described";
      for (const [name, field] of Object.entries(FIELDS)) form[field] = text(machine, name) ?? "";
    }
  }
  if (isDocument(search)) {
    for (const name of LISTS) {
      const value = search[name];
      if (!isNames(value)) continue;
      form[name] = value;
      delete search[name];
    }
    form.target = text(search, "target") ?? "";
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
  if (isDocument(budget)) for (const [name, field] of Object.entries(LIMITS)) form[field] = text(budget, name) ?? "";
  form.rest = emptied(rest);
  return form;
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

function emptied(document: Document): Document {
  return Object.fromEntries(Object.entries(document).flatMap(([name, value]): [string, Json][] => {
    if (!isDocument(value)) return [[name, value]];
    const left = emptied(value);
    return Object.keys(left).length ? [[name, left]] : [];
  }));
}

/** The dotted names of what stays as it is. */
export function namesOf(document: Document, prefix = ""): string[] {
  return Object.entries(document).flatMap(([name, value]) => (isDocument(value) ? namesOf(value, `${prefix}${name}.`) : [`${prefix}${name}`]));
}
