import assert from "node:assert/strict";
import { test } from "node:test";
import { parser } from "@lezer/yaml";
import { described, type Names } from "../src/lib/described.ts";
import { outline } from "../src/lib/outline.ts";
import { aboutAt, type Schema } from "../src/lib/schema.ts";
import { suggest, written } from "../src/lib/suggest.ts";

const SCHEMA: Schema = {
  $defs: {
    BuiltinApplication: {
      type: "object", required: ["builtin", "ranks"], additionalProperties: { type: "string" },
      properties: { builtin: { enum: ["cg", "ep"], description: "Name of the program." }, ranks: { type: "integer" } },
    },
    Trace: { type: "object", required: ["trace"], additionalProperties: false, properties: { trace: { type: "string" }, ranks: { type: "integer", description: "Of the trace." } } },
    TopologyChoice: { type: "object", required: ["family"], properties: { family: { type: "string" }, instances: { type: "integer", default: 1 } } },
    Search: {
      type: "object",
      properties: {
        collectives: { type: "object", properties: { bcast: { enum: ["all", "default", "flattree", "ompi"] } } },
        topology: {
          description: "Families of networks.", default: null,
          anyOf: [{ enum: ["random", "torus-2d"] }, { $ref: "#/$defs/TopologyChoice" }, { type: "array", items: { anyOf: [{ enum: ["random", "torus-2d"] }, { $ref: "#/$defs/TopologyChoice" }] } }, { type: "null" }],
        },
      },
    },
    Loop: { $ref: "#/$defs/Loop" },
  },
  type: "object", required: ["name", "search"],
  oneOf: [{ required: ["application"] }, { required: ["applications"] }],
  properties: {
    name: { type: "string", description: "A name for people." },
    application: { oneOf: [{ $ref: "#/$defs/BuiltinApplication" }, { $ref: "#/$defs/Trace" }] },
    applications: { type: "array", items: { type: "object", properties: { application: { $ref: "#/$defs/BuiltinApplication" }, weight: { type: "number" } } } },
    search: { $ref: "#/$defs/Search", description: "What to choose from." },
    speed: { type: ["number", "string"], description: "flop/s", default: 1, examples: ["100Gf"] },
    on: { type: "boolean" },
    objective: { enum: [["time"], ["time", "cost"]], default: ["time"] },
    loop: { $ref: "#/$defs/Loop" },
  },
};
const NAMES: Names = {
  programs: [
    { name: "cg", description: "conjugate gradient", fields: [{ name: "class", required: true, default: null, choices: ["S", "W"] }] },
    { name: "ep", description: "random numbers", fields: [{ name: "rounds", required: false, default: 3, choices: null }] },
  ],
  topologies: [
    { name: "random", description: "drawn by lot", uses_degree: true, uses_seed: true, indirect: false },
    { name: "torus-2d", description: "a torus", uses_degree: false, uses_seed: false, indirect: false },
  ],
  orderings: [], mappings: [], targets: [],
  mpi: [{ name: "default", description: "SMPI's own" }, { name: "ompi", description: "what Open MPI chooses" }],
  collectives: [{ name: "bcast", description: "from one to all", algorithms: [{ name: "flattree", description: "in turn" }] }],
};

/** What is suggested at the bar in a text. */
function at(text: string, schema = SCHEMA) {
  return suggest(schema, text.replace("|", ""), text.indexOf("|"))?.options ?? [];
}

function labels(text: string, schema = SCHEMA): string[] {
  return at(text, schema).map((one) => one.label);
}

/** The text once the first suggestion of a name has been taken. */
function taken(text: string, label: string): string {
  const whole = text.replace("|", "");
  const found = suggest(SCHEMA, whole, text.indexOf("|"));
  const one = found?.options.find((option) => option.label === label);
  assert.ok(found && one, `${label} is not suggested at ${JSON.stringify(text)}`);
  return whole.slice(0, found.from) + one.insert + whole.slice(found.to);
}

const SEARCH = ["collectives", "topology"];

test("keys are those of the place, whatever is written around it", () => {
  for (const text of [
    "search:\n  |", "search:\n  to|", "name: x\nsearch:\n  |\nspeed: 1\n", "search: {|}", "search: {to|", "search: {|\nspeed: 1\n",
    "{\n  search: {|\n", "search:\n  # of what\n  to|\n",
  ]) assert.deepEqual(labels(text), SEARCH, text);
  assert.deepEqual(labels("search:\n  topology: random\n|"), ["name", "application", "applications", "speed", "on", "objective", "loop"]);
});

test("keys that are there are not suggested again, but for the one that is edited", () => {
  assert.ok(!labels("name: x\n|\nspeed: 1\n").includes("name"));
  assert.ok(!labels("name: x\n|\nspeed: 1\n").includes("speed"));
  assert.equal(taken("name: x\nspe|ed: 1\n", "speed"), "name: x\nspeed: 1\n");
  assert.equal(taken("sp|eling: 1\n", "speed"), "speed: 1\n");
});

test("an alternative is told by the keys that it alone has", () => {
  assert.deepEqual(labels("application: {|}"), ["builtin", "ranks", "trace"]);
  assert.deepEqual(labels("application:\n  trace: x\n  |"), ["ranks"]);
  assert.deepEqual(labels("application:\n  |\n  trace: x\n"), ["ranks"]);
  assert.deepEqual(labels("application: {builtin: cg, |}"), ["ranks"]);
});

test("items of lists have their own keys", () => {
  for (const text of ["applications:\n  - |", "applications:\n- |\n", "applications: [{|}]"]) assert.deepEqual(labels(text), ["application", "weight"], text);
  assert.deepEqual(labels("applications:\n  - weight: 1\n    |"), ["application"]);
  assert.deepEqual(labels("applications:\n  - application: {builtin: |"), ["cg", "ep"]);
});

test("values are those of the field: names, truth, defaults, examples", () => {
  assert.deepEqual(labels("search:\n  topology: |"), ["random", "torus-2d", "null"]);
  assert.deepEqual(labels("search:\n  topology: [ran|]"), ["random", "torus-2d"]);
  assert.deepEqual(labels("search:\n  topology: [random, |"), ["torus-2d"]);
  assert.deepEqual(labels("search:\n  topology:\n    - |"), ["family", "instances", "random", "torus-2d"]);
  assert.deepEqual(labels("on: |"), ["true", "false"]);
  assert.deepEqual(labels("objective: |"), ["[time]", "[time, cost]"]);
  assert.deepEqual(at("speed: |").map((one) => [one.label, one.detail]), [["1", "default"], ["100Gf", "example"]]);
});

test("what is typed completely is not suggested, however it is written", () => {
  assert.deepEqual(labels("speed: 100G|"), ["1", "100Gf"]);
  assert.deepEqual(labels("speed: 100Gf|"), ["1"]);
  assert.deepEqual(labels("speed: 1|"), ["100Gf"]);
  assert.deepEqual(labels("on: tr|"), ["true", "false"]);
  assert.deepEqual(labels("on: true|"), ["false"]);
  assert.deepEqual(labels("search:\n  topology: [random|]"), ["torus-2d"]);
});

test("quantities need no quotes, other values keep theirs", () => {
  for (const [value, text] of [["0s", "0s"], ["2.5Gbps", "2.5Gbps"], ["1e5", "\"1e5\""], ["12:30", "\"12:30\""], ["yes", "\"yes\""], ["a \"0s\" b", "\"a \\\"0s\\\" b\""]] as const) {
    assert.equal(written(value), text);
  }
  assert.equal(written(["0s", "x y", "16"]), "[0s, x y, \"16\"]");
});

test("where a list is to begin or to go on, its items come with their dash", () => {
  for (const text of ["applications:\n  |", "applications:\n  ap|", "applications:\n|", "applications:\n  - weight: 1\n  |", "applications:\n  -|", "applications:\n  |\n  - weight: 1\n"]) {
    assert.ok(at(text).some((one) => one.label === "- application"), text);
  }
  assert.deepEqual(labels("applications:\n  |"), ["- application", "- weight"]);
  assert.equal(taken("applications:\n  |", "- weight"), "applications:\n  - weight: ");
  assert.equal(taken("applications:\n|", "- weight"), "applications:\n  - weight: ");
  assert.equal(taken("applications:\n  we|", "- weight"), "applications:\n  - weight: ");
  assert.equal(taken("applications:\n  -|", "- weight"), "applications:\n  - weight: ");
  assert.equal(taken("applications:\n  |", "- application"), "applications:\n  - application:\n      ");
  assert.equal(taken("name: x\nappl|\nspeed: 1\n", "applications"), "name: x\napplications:\n  - \nspeed: 1\n");
  assert.deepEqual(labels("search:\n  topology:\n    - random\n    |"), ["- family", "- instances", "- random", "- torus-2d"]);
  // What holds no list gets no items, and where other values fit these are told.
  for (const text of ["search:\n  |", "nonesuch:\n  |", "search:\n  topology:\n    |", "on:\n  |", "applications: [|"]) {
    assert.ok(labels(text).every((label) => !label.startsWith("- ")), text);
  }
});

test("below a key without a value, what may stand there comes first and is indented", () => {
  assert.deepEqual(at("search:\n|").filter((one) => one.below).map((one) => one.label), SEARCH);
  assert.ok(labels("search:\n|").includes("speed")); // whoever goes on without a value may
  assert.equal(taken("search:\n|", "topology"), "search:\n  topology: ");
  assert.equal(taken("search: # of what\nto|\nspeed: 1\n", "topology"), "search: # of what\n  topology: \nspeed: 1\n");
  assert.equal(taken("search:\n  topology:\n  ra|\n", "random"), "search:\n  topology:\n    random\n");
  assert.equal(taken("applications:\n  - application:\n|", "builtin"), "applications:\n  - application:\n      builtin: ");
  for (const text of ["search:\n|\n  topology: random\n", "search: {}\n|", "search:\n\n|", "applications:\n|\n- weight: 1\n"]) {
    assert.ok(at(text).every((one) => !one.below), text);
  }
});

test("nothing is suggested in texts, comments, and where no schema holds", () => {
  for (const text of ["# na|", "name: a b|", "name: 'x|'", "name: |", "nonesuch:\n  |", "name: |-\n  x|", "loop:\n  |", "- |"]) assert.deepEqual(labels(text), [], text);
});

test("a key is written with its colon, and what it holds below it", () => {
  assert.equal(taken("na|", "name"), "name: ");
  assert.equal(taken("|", "search"), "search:\n  ");
  assert.equal(taken("applications:\n  - app|", "application"), "applications:\n  - application:\n      ");
  assert.equal(taken("applications: [{app|}]", "application"), "applications: [{application: }]");
  assert.equal(taken("search:\n  topology: ra|", "random"), "search:\n  topology: random");
});

test("required keys are told", () => {
  assert.deepEqual(at("|").filter((one) => one.detail === "required").map((one) => one.label), ["name", "search"]);
});

test("the catalogue adds fields of programs and what names mean", () => {
  const schema = described(SCHEMA, NAMES);
  assert.deepEqual(labels("application: {builtin: cg, |}", schema), ["ranks", "class"]);
  assert.deepEqual(labels("application: {builtin: ep, |}", schema), ["ranks", "rounds"]);
  assert.deepEqual(at("application: {builtin: cg, |}", schema).map((one) => one.detail), ["required", "required"]);
  assert.deepEqual(labels("application:\n  builtin: cg\n  class: |", schema), ["S", "W"]);
  assert.deepEqual(at("application: {builtin: |", schema).map((one) => [one.label, one.detail]), [["cg", "conjugate gradient"], ["ep", "random numbers"]]);
  assert.deepEqual(at("search: {topology: [|", schema).map((one) => one.detail), ["drawn by lot", "a torus"]);
  assert.deepEqual(at("search: {collectives: {bcast: |", schema).map((one) => [one.label, one.detail]), [
    ["all", "default and every algorithm that works, but for the tables of libraries"], ["default", "left to the MPI implementation, of search.mpi"],
    ["flattree", "in turn"], ["ompi", "what Open MPI chooses"],
  ]);
  assert.deepEqual(labels("search: {topology: [{family: |", schema), ["random", "torus-2d"]);
  assert.equal(SCHEMA.$defs?.["BuiltinApplication"]?.oneOf, undefined); // the schema itself stays as it is
});

test("a field tells its description, default and example", () => {
  const about = (text: string, ...path: (string | number)[]) => aboutAt(SCHEMA, outline(parser.parse(text), text), path);
  assert.deepEqual(about("speed: 3", "speed"), { name: "speed", text: "flop/s", default: 1, example: "100Gf" });
  assert.deepEqual(about("search: {}", "search"), { name: "search", text: "What to choose from." });
  assert.deepEqual(about("application: {trace: x, ranks: 3}", "application", "ranks"), { name: "ranks", text: "Of the trace." });
  assert.equal(about("a: 1", "a"), null);
});

test("names that every object inherits are none of the schema's", () => {
  assert.deepEqual(labels("constructor:\n  |"), []);
  assert.deepEqual(labels("toString: |"), []);
});

test("a suggestion that is taken anywhere in a job file leaves the rest of it alone", () => {
  const text = "name: x\napplication: {builtin: cg, ranks: 4}\nsearch:\n  topology: [random, {family: x}]\n  # more\nspeed: 2\n";
  for (let position = 0; position <= text.length; position++) {
    const found = suggest(SCHEMA, text, position);
    if (!found) continue;
    assert.ok(found.from <= position && position <= found.to);
    assert.match(text.slice(found.from, found.to), /^[\w./+-]*$/);
    assert.equal(new Set(found.options.map((one) => `${one.kind} ${one.label}`)).size, found.options.length);
  }
});
