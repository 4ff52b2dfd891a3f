import assert from "node:assert/strict";
import { test } from "node:test";
import { documentOf, fileOf, formOf, INITIAL, namesOf } from "../src/create/form.ts";
import type { Catalogue, Json } from "../src/lib/types.ts";

const catalogue = {
  topologies: [
    { name: "random", description: "", uses_degree: true, uses_seed: true, indirect: false },
    { name: "torus-2d", description: "", uses_degree: false, uses_seed: false, indirect: false },
  ],
  programs: [{ name: "is", description: "", fields: [{ name: "class", required: true, default: null, choices: ["S", "A"] }] }],
} as unknown as Pick<Catalogue, "topologies" | "programs">;

const FILE = {
  name: "quick", application: { builtin: "is", class: "S", ranks: 16 },
  machine: { nodes: 16, degree: 4, host_speed: "100Gf", link_bandwidth: "40Gbps", switch_latency: "60ns" },
  search: { topology: [{ family: "random", instances: 4 }, "torus-2d"], ordering: ["original"], mpi: ["mpich"], collectives: { alltoall: "all" } },
  budget: { trials: 40 }, seed: 1,
};

test("a job file fills the form, and the form gives it again", () => {
  const form = formOf(FILE, catalogue);
  assert.deepEqual([form.source, form.builtin, form.ranks, form.nodes, form.hostSpeed, form.instances], ["builtin", "is", "16", "16", "100Gf", "4"]);
  assert.deepEqual([form.topology, form.collectives, form.trials, form.rest], [["random", "torus-2d"], ["alltoall"], "40", {}]);
  assert.deepEqual(documentOf(form, catalogue), FILE);
});

test("a library that has to run what is found and a priority have fields", () => {
  const { mpi: _mpi, collectives: _collectives, ...search } = FILE.search;
  const file = { ...FILE, search: { ...search, target: "openmpi-4.1" }, priority: "high" };
  const form = formOf(file, catalogue);
  assert.deepEqual([form.target, form.priority, form.mpi, form.rest], ["openmpi-4.1", "high", [], {}]);
  assert.deepEqual(documentOf(form, catalogue), file);
  assert.deepEqual(documentOf(formOf({ ...FILE, priority: "urgent" }, catalogue), catalogue), { ...FILE, priority: "urgent" });
});

test("the network model has a field, and its protocol stays as it is", () => {
  const file = { ...FILE, machine: { ...FILE.machine, network: "auto", protocol: { name: "verbs", mtu: "2KiB" } } };
  const form = formOf(file, catalogue);
  assert.deepEqual([form.network, namesOf(form.rest)], ["auto", ["machine.protocol.name", "machine.protocol.mtu"]]);
  assert.deepEqual(documentOf(form, catalogue), file);
});

test("the file of a stored job says the network model that it had", () => {
  const stored = { ...FILE, machine: { ...FILE.machine, switch_bandwidth: null }, techniques: null, cutoff_factor: null };
  assert.deepEqual(fileOf(stored), { ...FILE, machine: { network: "fluid", ...FILE.machine }, cutoff_factor: null });
  assert.deepEqual(fileOf({ ...FILE, machine: { ...FILE.machine, network: "auto" } }).machine, { ...FILE.machine, network: "auto" });
  assert.deepEqual(fileOf({ ...FILE, machine: { id: "m1" } }).machine, { id: "m1" });
});

test("what has no field stays as it is", () => {
  const file = {
    ...FILE, machine: { ...FILE.machine, interface_bandwidth: "10Gbps" }, limits: { wall_seconds: 60 },
    search: { ...FILE.search, topology: [{ family: "random", instances: 4, degree: 3 }], collectives: { alltoall: "all", bcast: ["binomial_tree"] } },
    budget: { trials: 40, cpu_seconds: 10 },
  };
  const form = formOf(file, catalogue);
  assert.deepEqual(namesOf(form.rest).sort(), ["budget.cpu_seconds", "limits.wall_seconds", "machine.interface_bandwidth", "search.collectives.bcast", "search.topology"]);
  assert.deepEqual(documentOf(form, catalogue), file);
});

test("applications and machines of other kinds are kept whole; stored ones are chosen", () => {
  const file = { ...FILE, application: { applications: [{ builtin: "is" }] }, machine: { topology: "G.edges" } };
  const form = formOf(file, catalogue);
  assert.deepEqual([form.source, form.machineSource], ["file", "file"]);
  assert.deepEqual(documentOf(form, catalogue), file);
  const stored = formOf({ ...FILE, application: { id: "a1" }, machine: { id: "m1" } }, catalogue);
  assert.deepEqual([stored.source, stored.application, stored.machineSource, stored.machine], ["stored", "a1", "stored", "m1"]);
});

test("what is wrong in a file is in the form for the service to say so", () => {
  const wrong: Json = { ...FILE, application: { builtin: "is", class: "S", ranks: "many" }, budget: { trials: -1 }, nonsense: [1] };
  assert.deepEqual(documentOf(formOf(wrong, catalogue), catalogue), wrong);
  assert.throws(() => formOf([1, 2], catalogue), /mapping/);
});

test("the form as it is at first has nothing of a file", () => {
  assert.deepEqual(INITIAL.rest, {});
});
