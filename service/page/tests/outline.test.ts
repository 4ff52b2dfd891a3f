import assert from "node:assert/strict";
import { test } from "node:test";
import { parser } from "@lezer/yaml";
import { locate, outline, partAt, pathTo, valueOf, type Part } from "../src/lib/outline.ts";

function read(text: string): Part | null {
  return outline(parser.parse(text), text);
}

/** The document as plain values. */
function values(part: Part | null): unknown {
  if (part?.kind === "mapping") return Object.fromEntries(part.entries.map(({ key, value }) => [key, values(value)]));
  if (part?.kind === "list") return part.items.map(values);
  return part && valueOf(part);
}

test("a text says the same in blocks, in brackets and as JSON", () => {
  const said = { name: "it's", machine: { nodes: 16, fast: true, none: null }, search: { topology: ["random", { family: "torus-3d", instances: 2 }] } };
  const texts = [
    "# of people\nname: 'it''s'\nmachine:\n  nodes: 16 # hosts\n  fast: true\n  none: null\nsearch:\n  topology:\n    - random\n    - family: torus-3d\n      instances: 2\n",
    "---\nname: \"it's\"\nmachine: {nodes: 16, fast: true, none: ~}\nsearch: {topology: [random, {family: torus-3d,\n  instances: 2}]}\n",
    JSON.stringify(said),
    JSON.stringify(said, null, 2),
  ];
  for (const text of texts) assert.deepEqual(values(read(text)), said, text);
});

test("what is not written yet leaves the rest where it is", () => {
  assert.deepEqual(values(read("a:\n  - x\n  -\n  - y\nb:\nc: [1, {d: 2}, {")), { a: ["x", null, "y"], b: null, c: [1, { d: 2 }, {}] });
  assert.equal(read(""), null);
  assert.equal(read("# nothing\n"), null);
});

test("every key and value is at its place in the text", () => {
  const text = "name: x\nmachine:\n  parts: {switches: [{radix: 4}, {radix: 8}]}\n";
  const { entry, part, exact } = locate(read(text), "machine.parts.switches.1.radix");
  assert.ok(entry && part && exact);
  assert.equal(text.slice(entry.at.from, part.to), "radix: 8");
  assert.deepEqual(pathTo(read(text), ({ entry: one }) => one?.at.from === entry.at.from), ["machine", "parts", "switches", 1, "radix"]);
  assert.deepEqual(partAt(read(text), ["machine", "parts", "switches", 1, "radix"]), part);
});

test("a field that is missing is looked for in its nearest parent", () => {
  const root = read("name: x\nmachine:\n  nodes: 16\nsearch: {mpi: mpich}\n");
  const nearest = (field: string) => { const { entry, exact } = locate(root, field); return [entry?.key ?? null, exact]; };
  assert.deepEqual(nearest("machine.degree"), ["machine", false]);
  assert.deepEqual(nearest("machine.nodes.deeper"), ["nodes", false]);
  assert.deepEqual(nearest("search.mpi.0"), ["mpi", false]); // one value where there may be a list
  assert.deepEqual(nearest("budget"), [null, false]);
  assert.deepEqual(nearest("machine.nodes"), ["nodes", true]);
});

test("a key may have dots of its own", () => {
  const root = read("software:\n  mpi.so.1: x\n  mpi: y\n");
  assert.equal(locate(root, "software.mpi.so.1").entry?.key, "mpi.so.1");
  assert.equal(locate(root, "software.mpi").entry?.key, "mpi");
});

test("what nests too deeply ends the outline, not the page", () => {
  for (const text of ["[".repeat(1000), "{a: ".repeat(1000), `${"- ".repeat(1000)}x`]) assert.doesNotThrow(() => read(text));
});

test("no beginning of a text fails", () => {
  const text = "name: x\napplication: {builtin: cg, class: 'S'}\nsearch:\n  topology:\n    - &a !t random\n    - {family: x}\n  note: |\n    a\n   b\n? k\n: v\n";
  for (let length = 0; length <= text.length; length++) {
    for (const cut of [text.slice(0, length), text.slice(length)]) {
      const part = read(cut);
      if (part) assert.ok(part.from >= 0 && part.to <= cut.length);
    }
  }
});
