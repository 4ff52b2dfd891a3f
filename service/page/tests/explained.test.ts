import assert from "node:assert/strict";
import { test } from "node:test";
import { explained, preset } from "../src/create/explained.ts";
import { factsOf, newestOf, quantity, withFixed, worded } from "../src/create/stored.ts";
import { INITIAL } from "../src/create/form.ts";

const SCHEMA = {
  properties: {
    name: { description: "What the job\nis called. More of it." },
    machine: { oneOf: [{ $ref: "#/$defs/Machine" }, { $ref: "#/$defs/Reference" }] },
    budget: { $ref: "#/$defs/Budget", description: "When to stop." },
  },
  $defs: {
    Machine: {
      properties: {
        speed: { description: "flop/s of one core.", examples: ["100Gf"], default: 1.5 },
        lists: { anyOf: [{ type: "array", items: { properties: { deep: { description: "Deep" } } } }, { type: "null" }] },
      },
    },
    Reference: { properties: { id: { description: "Its id." } } },
    Budget: { properties: { until: { description: "A gain, such as `1%`: it ends.", anyOf: [{ examples: ["1%"] }, { type: "null" }] } } },
  },
};

test("a field is explained by the first sentence of its schema, with an example", () => {
  assert.equal(explained(SCHEMA, "name"), "What the job is called.");
  assert.equal(explained(SCHEMA, "machine.speed"), "flop/s of one core. Example: `100Gf`.");
  assert.equal(explained(SCHEMA, "machine.speed", false), "flop/s of one core.");
  assert.equal(explained(SCHEMA, "machine.id"), "Its id.");
  assert.equal(explained(SCHEMA, "machine.lists.deep"), "Deep");
  assert.equal(explained(SCHEMA, "budget"), "When to stop.");
  assert.equal(explained(SCHEMA, "budget.until"), "A gain, such as `1%`: it ends.");
});

test("a field tells its default where that is a number or a word", () => {
  assert.deepEqual(["machine.speed", "machine.lists", "name", "colour"].map((path) => preset(SCHEMA, path)), ["1.5", "", "", ""]);
  assert.equal(preset(null, "machine.speed"), "");
});

test("of what the schema does not have nothing is said", () => {
  for (const path of ["colour", "machine.colour", "name.first"]) assert.equal(explained(SCHEMA, path), "");
  assert.equal(explained(null, "name"), "");
});

const machine = { nodes: 2, host_speed: 1e11, link_bandwidth: 6.818e9, switch_latency: 6e-8 };

test("a stored machine is told in a few words", () => {
  const network = { switches: 1, cables: 4 };
  assert.deepEqual(factsOf({ id: "m", name: "m", machine: { ...machine, cores_per_host: 32 }, network }),
    ["2 hosts", "1 switch", "4 cables", "32 cores per host", "100 Gf a core", "cables of 54.54 Gbps", "0 s a cable and 60 ns a switch"]);
  assert.equal(factsOf({ id: "m", name: "m", machine, network: null })[1], "no network of its own");
  assert.deepEqual([1, 999.96, 1e-9, 2.5e-5, 3e15].map((value) => quantity(value, "s")), ["1 s", "1 ks", "1 ns", "25 µs", "3000 Ts"]);
});

test("the newest program that was uploaded and the newest machine with a network are taken", () => {
  const programs = [{ id: "b", name: "b", kind: "builtin" }, { id: "t", name: "t", kind: "trace" }];
  const machines = [{ id: "open", name: "o", machine, network: null }, { id: "given", name: "g", machine, network: { switches: 0, cables: 1 } }];
  assert.deepEqual(newestOf(programs, machines), { application: "t", machine: "given", fixed: true });
  assert.deepEqual(newestOf([], machines.slice(0, 1)), { application: "", machine: "", fixed: false });
  assert.deepEqual(newestOf([], []), { application: "", machine: "", fixed: false });
});

test("whether a stored machine has a network is known from the list of them", () => {
  const listed = [{ id: "open", name: "o", machine, network: null }, { id: "given", name: "g", machine, network: { switches: 0, cables: 1 } }];
  const fixed = (id: string) => withFixed({ ...INITIAL, machineSource: "stored", machine: id, fixed: id !== "given" }, listed).fixed;
  assert.deepEqual([fixed("given"), fixed("open"), fixed("not listed")], [true, false, true]);
});

test("what is to be chosen is asked for in the words of the form", () => {
  const errors = [{ field: "machine", message: "is required" }, { field: "name", message: "is empty" }];
  const [first, second] = worded(errors, { ...INITIAL, machineSource: "stored" });
  assert.match(first?.message ?? "", /^choose one, or drop a file/);
  assert.equal(second?.message, "is empty");
  assert.deepEqual(worded(errors, INITIAL), errors);
});
