// Which fields of the form apply: by what the form is for, and by the choices made in it.
import type { Catalogue } from "../lib/types.ts";
import { isDocument } from "./document.ts";
import type { Form } from "./form.ts";

/** What the form is for; empty: all options are shown. */
export type Purpose = "" | "design" | "cluster" | "algorithms";

/** As `cutoffFactor`: no trial is stopped. */
export const ALL_FINISH = "null";

/** The fields that may be left out of the form and of the job file. */
export const OPTIONAL = [
  "degree", "model", "network", "topology", "instances", "ordering", "mapping", "mpi", "collectives", "target", "bySize",
  "weighed", "limits", "parts", "trials", "wall", "patience", "until", "seed", "fidelity", "priority", "cutoffFactor", "cutoff", "completedShare",
] as const satisfies readonly (keyof Form)[];

export type Optional = (typeof OPTIONAL)[number];

/** What does not matter for a purpose. */
const UNUSED: Record<Purpose, readonly Optional[]> = {
  "": [],
  design: ["model", "network", "mpi", "collectives", "target", "bySize", "fidelity", "priority"],
  cluster: ["degree", "model", "network", "topology", "instances", "ordering", "weighed", "limits", "parts", "fidelity", "priority"],
  algorithms: ["model", "network", "instances", "ordering", "mapping", "weighed", "limits", "parts", "fidelity", "priority"],
};

/** The fields that a job file can do without, empty. */
export function nothing(): Pick<Form, Optional> {
  return {
    degree: "", model: "", network: "", topology: [], instances: "1", ordering: [], mapping: [], mpi: [], collectives: [], target: "", bySize: "",
    weighed: "", limits: {}, parts: null, trials: "", wall: "", patience: "", until: "", seed: "", fidelity: "", priority: "normal",
    cutoffFactor: "", cutoff: "", completedShare: "",
  };
}

/** Whether only some trials are cut off. */
export function isAdaptive({ cutoff, cutoffFactor }: Pick<Form, "cutoff" | "cutoffFactor">): boolean {
  return cutoff === "adaptive" && cutoffFactor !== ALL_FINISH;
}

/** Whether the machine has a network already. */
export function hasNetwork({ machineSource, fixed, rest: { machine } }: Pick<Form, "machineSource" | "fixed" | "rest">): boolean {
  return machineSource === "stored" ? fixed : isDocument(machine) && "topology" in machine;
}

/** The fields that are left out: `purpose` where the purpose does without them, `choices` where other fields rule them out. */
export function leftOut(form: Form, catalogue: Pick<Catalogue, "topologies"> | null): Map<Optional, "purpose" | "choices"> {
  const { search } = form.rest;
  const said = (name: string) => isDocument(search) && name in search;
  const families = catalogue?.topologies.filter((one) => form.topology.includes(one.name)) ?? null;
  const some = (what: "uses_degree" | "uses_seed") => !families || said("topology") || families.some((one) => one[what]);
  const given = hasNetwork(form);
  const ruledOut: [boolean, ...Optional[]][] = [
    [given, "topology", "degree", "weighed", "limits", "parts"],
    [given || (!some("uses_seed")), "instances"],
    [form.topology.length > 0 && !some("uses_degree"), "degree"],
    [form.network === "packets", "model"],
    [form.target !== "", "mpi"],
    [form.target === "" && form.collectives.length === 0 && !said("collectives"), "bySize"],
    [form.weighed !== "", "until", "fidelity"],
    [form.completedShare !== "" && !isAdaptive(form), "completedShare"],
    // They matter for any purpose, but most people leave them alone.
    [form.purpose !== "" && form.cutoffFactor === "" && form.cutoff === "", "cutoffFactor", "cutoff"],
  ];
  const found = new Map<Optional, "purpose" | "choices">(ruledOut.flatMap(([so, ...names]) => (so ? names.map((name) => [name, "choices"] as const) : [])));
  for (const name of UNUSED[form.purpose]) found.set(name, "purpose");
  return found;
}

/** The form without what is left out. */
export function applying(form: Form, catalogue: Pick<Catalogue, "topologies"> | null): Form {
  const empty = nothing();
  return { ...form, ...Object.fromEntries([...leftOut(form, catalogue).keys()].map((name) => [name, empty[name]])) };
}
