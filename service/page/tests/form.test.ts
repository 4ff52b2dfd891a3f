import assert from "node:assert/strict";
import { test } from "node:test";
import { namesOf } from "../src/create/document.ts";
import { describing, documentOf, fileOf, formOf, INITIAL, keptOf, type Form } from "../src/create/form.ts";
import { initialFor, typedInVain } from "../src/create/purposes.ts";
import { typedNumbers } from "../src/create/receive.ts";
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

test("what is cut off has fields", () => {
  for (const [said, factor, cutoff, share] of [
    [{ cutoff_factor: 1.5, cutoff: "adaptive", completed_share: "30%" }, "1.5", "adaptive", "30%"],
    [{ cutoff_factor: null }, "null", "", ""],
    [{ cutoff_factor: null, cutoff: "fixed" }, "null", "fixed", ""],
    [{ cutoff: "fixed" }, "", "fixed", ""],
  ] as const) {
    const file = { ...FILE, ...said };
    const form = formOf(file, catalogue);
    assert.deepEqual([form.cutoffFactor, form.cutoff, form.completedShare, form.rest], [factor, cutoff, share, {}]);
    assert.deepEqual(documentOf(form, catalogue), file);
    for (const purpose of ["design", "cluster", "algorithms"] as const) {
      const { cutoff_factor = "left out" } = documentOf({ ...form, purpose }, catalogue);
      assert.equal(cutoff_factor, "cutoff_factor" in said ? said.cutoff_factor : "left out");
    }
  }
});

test("a share of trials that complete is left out where none or all are cut off", () => {
  const file = { ...FILE, cutoff: "adaptive", completed_share: 0.4 };
  const form = formOf(file, catalogue);
  assert.deepEqual(documentOf({ ...form, cutoff: "fixed" }, catalogue), { ...FILE, cutoff: "fixed" });
  assert.deepEqual(documentOf({ ...form, cutoff: "", cutoffFactor: "null" }, catalogue), { ...FILE, cutoff_factor: null });
  // What the service will refuse stays as somebody wrote it, and is told.
  for (const wrong of [{ cutoff: "loose" }, { cutoff_factor: null, completed_share: "1/3" }, { cutoff_factor: "much" }]) {
    assert.deepEqual(documentOf(formOf({ ...FILE, ...wrong }, catalogue), catalogue), { ...FILE, ...wrong });
  }
});

test("algorithms by message size have a field, and ranges of one's own stay as they are", () => {
  const file = { ...FILE, search: { ...FILE.search, by_size: true } };
  const form = formOf(file, catalogue);
  assert.deepEqual([form.bySize, form.rest], ["yes", {}]);
  assert.deepEqual(documentOf(form, catalogue), file);
  assert.deepEqual(documentOf(formOf({ ...FILE, search: { ...FILE.search, by_size: false } }, catalogue), catalogue), FILE);
  const ranges = { ...FILE, search: { ...FILE.search, by_size: { alltoall: [4096] } } };
  assert.deepEqual(documentOf(formOf(ranges, catalogue), catalogue), ranges);
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

test("what is weighed against time, limits and parts have fields", () => {
  const parts = {
    switches: [{ radix: 8, price: 2000, watts: 40 }, { radix: 36, price: 11000 }],
    cables: { reach: 5, optical: 300 }, adapters: { price: 400 }, floor: { rack_nodes: 16 },
  };
  const file = { ...FILE, machine: { ...FILE.machine, parts }, objective: ["time", "cost"], constraints: { cost: "<= 70000", diameter: 6 } };
  const form = formOf(file, catalogue);
  assert.deepEqual([form.weighed, form.limits, form.rest], ["cost", { cost: "<= 70000", diameter: "6" }, {}]);
  assert.deepEqual(form.parts?.switches, [{ radix: "8", price: "2000", watts: "40" }, { radix: "36", price: "11000", watts: "" }]);
  assert.deepEqual(documentOf(form, catalogue), file);
  for (const alone of ["time", ["time"]]) assert.deepEqual(documentOf(formOf({ ...FILE, objective: alone }, catalogue), catalogue), FILE);
});

test("parts of which nothing is said are those by default, and what is wrong in them stays to be told", () => {
  const bare = { ...FILE, machine: { ...FILE.machine, parts: {} } };
  assert.deepEqual(documentOf(formOf(bare, catalogue), catalogue), bare);
  for (const wrong of [
    { ...FILE, objective: ["time", "colour"] }, { ...FILE, objective: "weighted" }, { ...FILE, constraints: { weight: 3 } }, { ...FILE, constraints: 3 },
    { ...FILE, machine: { ...FILE.machine, parts: { switches: [{ ports: 3 }], cables: { reach: [1] }, adapters: 3 } } },
    { ...FILE, machine: { ...FILE.machine, parts: { switches: [{ radix: "many", price: "dear" }] } } },
  ] as Json[]) assert.deepEqual(documentOf(formOf(wrong, catalogue), catalogue), wrong);
  const chosen = documentOf({ ...formOf(FILE, catalogue), limits: { power: "1,200", cables: " " } }, catalogue);
  assert.deepEqual(chosen["constraints"], { power: "1,200" });
});

const GIVEN = { nodes: 2, host_speed: 1e9, link_bandwidth: 5e9, topology: { edges: [[0, 1]] } };
const OPEN = { nodes: 4, host_speed: 2e9, link_bandwidth: 1e9 };

test("a stored machine in the fields of the form leaves nothing of the one before", () => {
  const first = describing({ ...INITIAL, rest: { learn_from: "none" } }, GIVEN, catalogue);
  assert.deepEqual(first.rest, { learn_from: "none", machine: { topology: GIVEN.topology } });
  const second = describing(first, OPEN, catalogue);
  assert.deepEqual([second.rest, second.nodes, second.degree], [{ learn_from: "none" }, "4", ""]);
});

test("a stored machine or program that is chosen has nothing of the one before, which comes back with it", () => {
  const described = describing(INITIAL, GIVEN, catalogue);
  const chosen: Form = { ...described, machineSource: "stored", machine: "m1", fixed: true };
  assert.deepEqual([documentOf(chosen, catalogue)["machine"], keptOf(chosen)], [{ id: "m1" }, {}]);
  assert.deepEqual((documentOf({ ...chosen, machineSource: "described" }, catalogue)["machine"] as typeof GIVEN).topology, GIVEN.topology);
  const program = formOf({ ...FILE, application: { builtin: "is", class: "S", ranks: 16, lines: 3 } }, catalogue);
  assert.deepEqual(documentOf({ ...program, source: "stored", application: "a1" }, catalogue)["application"], { id: "a1" });
});

test("what a file says beside an id is not lost: the service says what is wrong with it", () => {
  const wrong: Json = { ...FILE, application: { id: "a1", ranks: 3 }, machine: { id: "m1", cores: 2 } };
  assert.deepEqual(documentOf(formOf(wrong, catalogue), catalogue), wrong);
});

test("a job file on a stored machine with a network has no fields for another, and loses nothing", () => {
  const file = { ...FILE, machine: { id: "m1" } };
  const form = formOf(file, catalogue, new Set(["m1"]));
  assert.deepEqual([form.fixed, form.topology, namesOf(form.rest)], [true, [], ["search.topology"]]);
  assert.deepEqual(documentOf(form, catalogue), file);
  assert.equal(formOf(file, catalogue, new Set(["m2"])).fixed, false);
});

test("only numbers that somebody typed count before those of a network's file", () => {
  assert.deepEqual(typedNumbers({ ...INITIAL, cores: "4", hostSpeed: "40Gf" }), [["host_speed", "40Gf"], ["cores_per_host", "4"]]);
  const described = describing(INITIAL, GIVEN, catalogue);
  assert.deepEqual(typedNumbers(described), []);
  assert.deepEqual(typedNumbers({ ...described, bandwidth: "10Gbps" }), [["link_bandwidth", "10Gbps"]]);
});

test("numbers that a job file gives count before those of the network's file that it names", () => {
  const file: Json = { ...FILE, machine: { topology: { file: "fabric.txt" }, host_speed: "40Gf", switch_latency: 6e-8, protocol: "verbs" } };
  assert.deepEqual(typedNumbers(formOf(file, catalogue)), [["host_speed", "40Gf"], ["switch_latency", "6e-8"]]);
});

test("what a stored machine says of its network's model and nobody chose is no choice, and is not lost", () => {
  const before: Form = { ...INITIAL, ...initialFor("cluster") };
  const told = (machine: typeof GIVEN & { network: string; model?: string }) => describing(before, machine, catalogue);
  const auto = told({ ...GIVEN, network: "auto", model: "smpi-default" });
  assert.deepEqual([typedInVain(auto, catalogue).purpose, namesOf(keptOf(auto))], [[], ["machine.topology.edges"]]);
  const fluid = told({ ...GIVEN, network: "fluid", model: "plain" });
  assert.deepEqual(typedInVain(fluid, catalogue).purpose, []);
  const said = documentOf(fluid, catalogue)["machine"] as Record<string, Json>;
  assert.deepEqual([said["network"], said["model"]], ["fluid", "plain"]);
  const all = describing(INITIAL, { ...GIVEN, network: "fluid" }, catalogue);
  assert.deepEqual([all.network, namesOf(all.rest)], ["fluid", ["machine.topology.edges"]]);
});
