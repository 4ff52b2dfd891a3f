import assert from "node:assert/strict";
import { test } from "node:test";
import { applying, leftOut } from "../src/create/applies.ts";
import { documentOf, formOf, INITIAL, type Form } from "../src/create/form.ts";
import { initialFor, PURPOSES, repurposed, typedInVain } from "../src/create/purposes.ts";
import type { Catalogue } from "../src/lib/types.ts";

const catalogue = {
  topologies: [
    { name: "random", description: "", uses_degree: true, uses_seed: true, indirect: false },
    { name: "torus-2d", description: "", uses_degree: false, uses_seed: false, indirect: false },
  ],
  programs: [{ name: "cg", description: "", fields: [{ name: "class", required: true, default: null, choices: ["S", "A"] }] }],
} as unknown as Pick<Catalogue, "topologies" | "programs">;
const NONE = { application: "", machine: "", fixed: false };
const SOME = { application: "a1", machine: "m1", fixed: true };

test("each purpose fills the form and gives a job file of what matters for it", () => {
  const design = documentOf(repurposed(INITIAL, "design", NONE).form, catalogue);
  assert.deepEqual(design["search"], { topology: [{ family: "random", instances: 8 }, "torus-2d"], ordering: ["original", "hamorder"], mapping: ["by-order", "auto"] });
  assert.deepEqual(design["budget"], { trials: 200, patience: 50 });
  const cluster = documentOf(repurposed(INITIAL, "cluster", SOME).form, catalogue);
  assert.deepEqual(cluster["machine"], { id: "m1" });
  assert.deepEqual(Object.keys(cluster["search"] as object), ["mapping", "mpi", "collectives"]);
  const algorithms = documentOf(repurposed(INITIAL, "algorithms", SOME).form, catalogue);
  assert.deepEqual(algorithms["application"], { id: "a1" });
  assert.deepEqual(Object.keys(algorithms["search"] as object), ["topology", "mpi", "collectives", "by_size"]);
  assert.deepEqual(algorithms["budget"], { trials: 200, until: "1%" });
});

test("all that nobody typed follows the purpose, there and back", () => {
  let form = INITIAL;
  for (const [purpose] of [...PURPOSES, ...PURPOSES]) {
    const { form: next, kept } = repurposed(form, purpose, NONE);
    assert.deepEqual([next, kept], [initialFor(purpose), []]);
    assert.deepEqual(typedInVain(next, catalogue), { purpose: [], choices: [] });
    form = next;
  }
});

test("what was typed stays, and is told where the purpose would have set it", () => {
  const typed: Form = { ...INITIAL, trials: "7", seed: "9", nodes: "64" };
  const { form, kept } = repurposed(typed, "design", NONE);
  assert.deepEqual([form.trials, form.seed, form.nodes, form.patience, kept], ["7", "9", "64", "50", ["trials"]]);
});

test("what was typed and does not matter now is told, is not in the job file, and comes back", () => {
  const typed: Form = { ...INITIAL, ordering: ["rcm"], weighed: "cost", limits: { cost: "9" }, priority: "high" };
  const cluster = repurposed(typed, "cluster", SOME).form;
  assert.deepEqual(typedInVain(cluster, catalogue).purpose.toSorted(), ["limits", "ordering", "priority", "weighed"]);
  const said = documentOf(cluster, catalogue);
  assert.deepEqual([said["objective"], said["constraints"], said["priority"]], [undefined, undefined, undefined]);
  const back = repurposed(cluster, "", NONE).form;
  assert.deepEqual([back.ordering, back.weighed, back.limits, back.priority], [["rcm"], "cost", { cost: "9" }, "high"]);
});

test("a program and a machine that were chosen stay chosen", () => {
  const chosen: Form = { ...INITIAL, source: "stored", application: "mine", machineSource: "stored", machine: "ours" };
  const { form } = repurposed(chosen, "cluster", SOME);
  assert.deepEqual([form.source, form.application, form.machine, form.fixed], ["stored", "mine", "ours", false]);
});

test("a machine that was chosen goes along, but not to where a network is designed", () => {
  const cluster = repurposed(INITIAL, "cluster", SOME).form;
  const algorithms = repurposed(cluster, "algorithms", SOME).form;
  assert.deepEqual([algorithms.machineSource, algorithms.machine, algorithms.source], ["stored", "m1", "stored"]);
  const design = repurposed(cluster, "design", SOME).form;
  assert.deepEqual([design.machineSource, design.machine], ["described", "m1"]);
});

test("fields that other choices rule out are left out of the job file", () => {
  const without = (part: Partial<Form>) => [...leftOut({ ...INITIAL, ...part }, catalogue).keys()].toSorted();
  assert.deepEqual(without({}), []);
  assert.deepEqual(without({ topology: ["torus-2d"] }), ["degree", "instances"]);
  assert.deepEqual(without({ network: "packets" }), ["model"]);
  assert.deepEqual(without({ target: "openmpi-4.1" }), ["mpi"]);
  assert.deepEqual(without({ collectives: [] }), ["bySize"]);
  assert.deepEqual(without({ weighed: "power" }), ["fidelity", "until"]);
  assert.deepEqual(without({ machineSource: "stored", fixed: true }), ["degree", "instances", "limits", "parts", "topology", "weighed"]);
  assert.equal(applying({ ...INITIAL, until: "1%", weighed: "cost" }, catalogue).until, "");
  assert.deepEqual(typedInVain({ ...INITIAL, until: "1%", weighed: "cost" }, catalogue).choices, ["until"]);
});

test("the algorithms of a program can be searched on a random network, which has a degree", () => {
  const algorithms: Form = { ...repurposed(INITIAL, "algorithms", SOME).form, degree: "6" };
  assert.equal(leftOut(algorithms, catalogue).get("degree"), "choices");
  const random: Form = { ...algorithms, topology: ["random"] };
  assert.equal(leftOut(random, catalogue).has("degree"), false);
  assert.equal((documentOf(random, catalogue)["machine"] as { degree?: number }).degree, 6);
});

test("what a job file says in a field that does not apply stays as it is, and is told as such", () => {
  const file = {
    name: "n", application: { builtin: "cg", class: "S", ranks: 16 }, machine: { nodes: 16, degree: 4, host_speed: 1, link_bandwidth: 1 },
    search: { topology: ["torus-2d"], target: "openmpi-4.1", mpi: ["ompi"] }, budget: { trials: 3 },
  };
  const form = formOf(file, catalogue);
  assert.deepEqual(form.rest, { machine: { degree: 4 }, search: { mpi: ["ompi"] } });
  assert.deepEqual([form.degree, form.mpi], ["", []]);
  assert.deepEqual(documentOf(form, catalogue), file);
});
