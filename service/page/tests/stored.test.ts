import assert from "node:assert/strict";
import { test } from "node:test";
import { labelled, newestOf, onPage, type StoredProgram } from "../src/create/stored.ts";
import { moment } from "../src/lib/format.ts";

const program = (id: string, more: Partial<StoredProgram> = {}): StoredProgram => ({
  id, name: "c", kind: "source", state: "ready", created_at: 1_790_000_000, ranks: 4, ...more,
});

test("programs of one name are told apart by when they came, what became of them, and else by their ids", () => {
  const at = moment(1_790_000_000);
  assert.deepEqual(labelled([
    program("a1", { state: "failed" }), program("a2", { state: "new" }), program("a3"), program("a4"),
    program("a5", { created_at: 1_790_090_000, summary: { truncated: true } }),
  ]), [
    ["a1", `c (4 ranks, ${at}, its capture failed)`],
    ["a2", `c (4 ranks, ${at}, not captured yet)`],
    ["a3", `c (4 ranks, ${at}) a3`],
    ["a4", `c (4 ranks, ${at}) a4`],
    ["a5", `c (4 ranks, ${moment(1_790_090_000)}, truncated)`],
  ]);
});

test("the newest program is one that may work", () => {
  const programs = [program("b", { kind: "builtin" }), program("f", { state: "failed" }), program("n", { state: "new" }), program("r")];
  assert.equal(newestOf(programs, []).application, "n");
  assert.equal(newestOf(programs.slice(0, 2), []).application, "");
});

test("files of the author are dropped on the page, and what they say is not asked for", () => {
  const missing = { field: "machine.nodes", message: "is required" };
  const told = onPage([missing, { field: "machine.topology.file", message: "names a file" }, { field: "budget", message: "is required" }]);
  assert.deepEqual(told.map((one) => one.field), ["machine.topology.file", "budget"]);
  assert.match(told[0]?.message ?? "", /drop it on this page/);
  assert.match(onPage([{ field: "application.source", message: "upload it" }])[0]?.message ?? "", /drop an archive of it on this page/);
  assert.deepEqual(onPage([missing]), [missing]);
});
