import assert from "node:assert/strict";
import { test } from "node:test";
import { indentBelow, opened } from "../src/lib/indent.ts";

/** Each line, and how many blanks the next one begins with. */
function below(lines: Record<string, number>): void {
  for (const [line, blanks] of Object.entries(lines)) assert.equal(indentBelow(line), blanks, JSON.stringify(line));
}

test("a line begins where the one above it does", () => {
  below({ "": 0, "name: x": 0, "  nodes: 16": 2, "    - torus-2d": 4, "  # note:": 2, "   odd": 3, "  topology: [random,": 2, "  hamorder]": 2, "  url: http://a:": 2 });
});

test("what a key holds stands two further in than the key", () => {
  below({ "machine:": 2, "machine: ": 2, "  parts: # all:": 4, "\"a: b\":": 2, "'it''s':": 2, "  note: |": 4, "note: >-": 2, "machine: {": 2, "  mpi: [": 4, "  - application:": 6, "a-b: 1": 0 });
});

test("the keys of an item stand below its first", () => {
  below({ "  - family: random": 4, "- - a: 1": 4, "  - \"x\": 1": 4, "  - random": 2, "  - http://a": 2, "  -": 2 });
});

test("what is no YAML moves nothing further in", () => {
  below({ "host_speed: \"100Gf\"link_bandwidth: 40Gbps": 0, "  a: b: c": 2, "}": 0, "  ]:": 2, "  \"x": 2, ":": 0, "  : :": 2, "\t:": 0 });
});

test("only a key that nothing follows is open, in the column where it stands", () => {
  assert.equal(opened("  - application:"), 4);
  assert.equal(opened("machine:"), 0);
  for (const line of ["machine: {}", "# machine:", "machine", "- x", ""]) assert.equal(opened(line), null, line);
});
