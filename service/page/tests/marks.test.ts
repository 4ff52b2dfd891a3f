import assert from "node:assert/strict";
import { test } from "node:test";
import { parser } from "@lezer/yaml";
import { inOrder, marks, placeIn } from "../src/lib/marks.ts";
import { outline } from "../src/lib/outline.ts";

const TEXT = "# a job\nname: x\nmachine:\n  degree: 4\n  parts:\n    switches:\n      - {radix: 4}\nsearch: {mpi: [a,\n  b]}\n";

/** The line, from 1, and what is underlined. */
function marked(text: string, field: string | null, message = "is wrong"): [number, string] | undefined {
  const [mark] = marks(text, outline(parser.parse(text), text), { message, fields: field === null ? [] : [{ field, message }] });
  return mark && [text.slice(0, mark.from).split("\n").length, text.slice(mark.from, mark.to)];
}

test("a field is underlined in its line, and else its nearest parent", () => {
  assert.deepEqual(marked(TEXT, "machine.degree"), [4, "degree: 4"]);
  assert.deepEqual(marked(TEXT, "machine.nodes"), [3, "machine"]);
  assert.deepEqual(marked(TEXT, "machine.parts.switches.0.radix"), [7, "radix: 4"]);
  assert.deepEqual(marked(TEXT, "machine.parts.switches.0.price"), [7, "{radix: 4}"]);
  assert.deepEqual(marked(TEXT, "machine.parts"), [5, "parts"]);
  assert.deepEqual(marked(TEXT, "search.mpi.1"), [9, "b"]);
  assert.deepEqual(marked(TEXT, "search.mpi"), [8, "mpi"]);
  assert.deepEqual(marked(TEXT, "budget"), [2, "name: x"]);
  assert.deepEqual(marked("{}", "name"), [1, "{}"]);
  assert.deepEqual(marked("", "name"), [1, ""]);
  assert.deepEqual(marked("# nothing\n", "name"), [1, "# nothing"]);
});

test("the value that a message names is underlined in its list", () => {
  const message = "unknown topology 'randm'; allowed: random, torus-2d";
  assert.deepEqual(marked("search: {topology: [torus-2d, randm]}", "search.topology", message), [1, "randm"]);
  assert.deepEqual(marked("search:\n  topology:\n  - torus-2d\n  - 'randm'\n", "search.topology", message), [4, "'randm'"]);
  assert.deepEqual(marked("search: {topology: [{family: randm}]}", "search.topology", message), [1, "randm"]);
  assert.deepEqual(marked("search: {topology: randm}", "search.topology", message), [1, "topology: randm"]);
  assert.deepEqual(marked("search: {topology: [a]}", "search.topology", message), [1, "topology: [a]"]);
  assert.deepEqual(marked("search: {ordering: [randm]}", "search.topology", message), [1, "search"]);
});

test("problems are in the order of their places", () => {
  const fields = ["search.mpi", "nonesuch", "machine.nodes", "machine.degree", "name"].map((field) => ({ field, message: "is wrong" }));
  assert.deepEqual(inOrder(TEXT, outline(parser.parse(TEXT), TEXT), fields).map(({ field }) => field), ["nonesuch", "name", "machine.nodes", "machine.degree", "search.mpi"]);
});

test("what is no YAML is underlined where the service says", () => {
  assert.deepEqual(marked(TEXT, null, "not acceptable YAML: line 4, column 3: a tab"), [4, "degree:"]);
  assert.deepEqual(marked("name: [", null, "not acceptable YAML: line 1, column 8: expected"), [1, "["]);
  assert.deepEqual(marked("a: 1\nb: [\n", null, "line 3, column 1: expected"), [3, ""]);
  assert.deepEqual(marked("a: 😀 b: c", null, "line 1, column 6: mapping values"), [1, "b:"]); // characters, not their halves
  assert.equal(marked("a: 1", null, "the document is not YAML text"), undefined);
});

test("a place outside of the text is none that could not be shown", () => {
  for (const text of ["", "a", "a: 1\n\n", "😀"]) {
    for (let line = 0; line < 5; line++) {
      for (let column = 0; column < 6; column++) {
        const place = placeIn(text, `line ${line}, column ${column}: x`);
        assert.ok(place && place.from >= 0 && place.from <= place.to && place.to <= text.length, `${JSON.stringify(text)} ${line} ${column}`);
      }
    }
  }
});
