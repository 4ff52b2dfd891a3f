// What the form is filled with for a purpose, and what stays when the purpose changes.
import type { Catalogue } from "../lib/types.ts";
import { leftOut, nothing, OPTIONAL, type Optional, type Purpose } from "./applies.ts";
import { INITIAL, type Form } from "./form.ts";

export const PURPOSES: readonly (readonly [Purpose, string, string])[] = [
  ["design", "Design a network", "Which network the hosts get, how they are numbered, and where ranks are placed."],
  ["cluster", "Tune an existing cluster", "The network stays as it is: where ranks are placed, and which algorithms MPI uses."],
  ["algorithms", "Find the best algorithms for my program", "Network and placement stay as they are: only the algorithms of MPI's collectives are searched."],
  ["", "All options", "Everything that the form has a field for."],
];

const COLLECTIVES = ["allreduce", "alltoall", "allgather", "bcast", "reduce"];

/** What a purpose sets; of all other fields it has what the form has at first. */
const SET: Record<Purpose, Partial<Form>> = {
  "": {},
  design: { machineSource: "described", instances: "8", topology: ["random", "torus-2d"], mapping: ["by-order", "auto"], trials: "200", patience: "50" },
  cluster: { machineSource: "stored", mapping: ["by-order", "auto", "treematch"], mpi: ["default", "ompi", "mpich"], collectives: COLLECTIVES, trials: "200", patience: "50" },
  algorithms: { source: "stored", topology: ["torus-2d"], mpi: ["default", "ompi", "mpich"], collectives: COLLECTIVES, bySize: "yes", trials: "200", until: "1%" },
};

/** Fields that a purpose may set. Of a program or machine it sets only where it comes from: what describes the one at hand stays in its fields. */
const FIELDS = [...OPTIONAL, "source", "machineSource"] as const;

/** What the newest of the programs and machines at the service are called by jobs. */
export interface Newest { application: string; machine: string; fixed: boolean }

/** The form as it is for a purpose before anybody types. */
export function initialFor(purpose: Purpose): Form {
  return { ...INITIAL, ...SET[purpose], purpose };
}

/** The form for another purpose, and the fields that it would have set but that were typed. */
export function repurposed(form: Form, purpose: Purpose, newest: Newest): { form: Form; kept: (typeof FIELDS)[number][] } {
  const before = initialFor(form.purpose);
  const after = initialFor(purpose);
  const next: Form = { ...form, purpose };
  const kept = FIELDS.filter((name) => {
    const asked = name in SET[purpose];
    if (!same(form[name], before[name])) return asked && !same(form[name], after[name]);
    // What was chosen of what is stored goes along to a purpose that does not ask for anything else.
    if (!asked && ((name === "machineSource" && form.machine) || (name === "source" && form.application))) return false;
    Object.assign(next, { [name]: after[name] });
    return false;
  });
  if (next.source === "stored" && !next.application) next.application = newest.application;
  if (next.machineSource === "stored" && !next.machine) Object.assign(next, { machine: newest.machine, fixed: newest.fixed });
  return { form: next, kept };
}

/** What was typed and is not in the job file: left out by the purpose, or by other choices. */
export function typedInVain(form: Form, catalogue: Pick<Catalogue, "topologies"> | null): { purpose: Optional[]; choices: Optional[] } {
  const initial = initialFor(form.purpose);
  const empty = nothing();
  const found: { purpose: Optional[]; choices: Optional[] } = { purpose: [], choices: [] };
  const out = leftOut(form, catalogue);
  for (const name of OPTIONAL) {
    const why = out.get(name);
    if (why && !same(form[name], initial[name]) && !same(form[name], empty[name])) found[why].push(name);
  }
  return found;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
