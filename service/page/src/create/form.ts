// The form's own values, and the job file that they stand for.
import type { Catalogue, Json } from "../lib/types.ts";

export interface Form {
  name: string;
  source: "builtin" | "stored";
  builtin: string;
  fields: Record<string, string>;
  ranks: string;
  application: string;
  machineSource: "described" | "stored";
  machine: string;
  nodes: string;
  degree: string;
  cores: string;
  hostSpeed: string;
  bandwidth: string;
  linkLatency: string;
  switchLatency: string;
  model: string;
  topology: string[];
  instances: string;
  ordering: string[];
  mapping: string[];
  mpi: string[];
  collectives: string[];
  trials: string;
  wall: string;
  patience: string;
  seed: string;
  fidelity: string;
}

export const INITIAL: Form = {
  name: "my-job",
  source: "builtin", builtin: "cg", fields: { class: "S" }, ranks: "16", application: "",
  machineSource: "described", machine: "", nodes: "16", degree: "4", cores: "1",
  hostSpeed: "100Gf", bandwidth: "40Gbps", linkLatency: "0s", switchLatency: "60ns", model: "smpi-default",
  topology: ["random", "torus-2d"], instances: "4", ordering: ["original", "hamorder"], mapping: ["by-order"],
  mpi: ["mpich", "ompi"], collectives: ["allreduce", "alltoall"],
  trials: "100", wall: "", patience: "", seed: "1", fidelity: "full",
};

/** Numbers where there are numbers; what is not one goes to the service, which says what is wrong. */
export function numeric(text: string): Json {
  const trimmed = text.trim();
  return /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

type Document = { [name: string]: Json };

export function documentOf(form: Form, catalogue: Pick<Catalogue, "topologies" | "programs"> | null): Document {
  const seeded = new Set(catalogue?.topologies.filter((family) => family.uses_seed).map((family) => family.name));
  const instances = numeric(form.instances || "1");
  const known = catalogue?.programs.find((program) => program.name === form.builtin)?.fields;
  const application: Document = form.source === "stored" ? { id: form.application } : { builtin: form.builtin };
  if (form.source === "builtin") {
    for (const [name, value] of Object.entries(form.fields)) {
      if (value !== "" && (!known || known.some((field) => field.name === name))) application[name] = numeric(value);
    }
    application["ranks"] = numeric(form.ranks);
  }
  const described: Document = {
    nodes: numeric(form.nodes),
    ...(form.degree.trim() ? { degree: numeric(form.degree) } : {}),
    ...(form.cores.trim() && form.cores.trim() !== "1" ? { cores_per_host: numeric(form.cores) } : {}),
    host_speed: numeric(form.hostSpeed),
    link_bandwidth: numeric(form.bandwidth),
    link_latency: numeric(form.linkLatency || "0"),
    switch_latency: numeric(form.switchLatency || "0"),
    model: form.model,
  };
  const budget: Document = {};
  if (form.trials.trim()) budget["trials"] = numeric(form.trials);
  if (form.wall.trim()) budget["wall_seconds"] = numeric(form.wall);
  if (form.patience.trim()) budget["patience"] = numeric(form.patience);
  return {
    name: form.name,
    application,
    machine: form.machineSource === "stored" ? { id: form.machine } : described,
    search: {
      ...(form.topology.length ? {
        topology: form.topology.map((name) => (seeded.has(name) && instances !== 1 ? { family: name, instances } : name)),
      } : {}),
      ordering: form.ordering,
      mapping: form.mapping,
      mpi: form.mpi,
      ...(form.collectives.length ? { collectives: Object.fromEntries(form.collectives.map((name) => [name, "all"])) } : {}),
    },
    budget,
    seed: numeric(form.seed || "0"),
    ...(form.fidelity === "full" ? {} : { fidelity: form.fidelity }),
  };
}
