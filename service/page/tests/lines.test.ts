import assert from "node:assert/strict";
import { test } from "node:test";
import { bundleOf, lineNear } from "../src/lib/lines.ts";
import type { Row } from "../src/lib/table.ts";

function row(number: number, value: number | null, parameters: Record<string, string | number>): Row {
  return {
    number, value, best: value, wall: 0, cpu: 0, proximity: null, started: 0, finished: 1, cached: false, inside: true,
    state: value === null ? "failed" : "completed", kind: "search", technique: null, label: null, worker: null, fidelity: "full",
    parameters: new Map(Object.entries(parameters)),
  };
}

const convergence = {
  names: ["mpi", "seed", "same"],
  rows: [
    row(1, 4, { mpi: "ompi", seed: 10, same: 1 }), row(2, 1, { mpi: "mpich", seed: 9, same: 1 }),
    row(3, 1, { mpi: "mpich", seed: 9, same: 1 }), row(4, 2, { mpi: "mpich", same: 1 }), row(5, null, { mpi: "other", seed: 10, same: 1 }),
  ],
};

test("a parameter with one value has no axis; numbers are in order, what does not count is last", () => {
  assert.deepEqual(bundleOf(convergence).axes.map((axis) => [axis.name, axis.values]), [["mpi", ["mpich", "ompi", "other"]], ["seed", [9, 10, null]]]);
});

test("equal trials are one line, the slowest line is first, and places reach from 0 to 1", () => {
  const bundle = bundleOf(convergence);
  assert.equal(bundle.trials, 4);
  assert.deepEqual(bundle.rows.map((rows) => rows.map((one) => one.number)), [[1], [4], [2, 3]]);
  assert.deepEqual([...bundle.ys], [0.5, 0.5, 0, 0, 1, 0.5, 0, 0, 1]);
});

test("without a completed trial there is no line", () => {
  assert.equal(bundleOf({ names: ["mpi"], rows: [row(1, null, { mpi: "a" })] }).count, 0);
});

test("the line beside the mouse is the nearest one, and of some over one another the fastest", () => {
  const bundle = bundleOf(convergence);
  const near = (across: number, down: number, lines = bundle.all) => lineNear(bundle, lines, across, down, 0.1);
  // Between the first axis and the second the fastest goes along the upper edge.
  assert.deepEqual([near(0, 0), near(0.5, 0.05), near(0, 0.55), near(2, 0.48)], [2, 2, 0, 1]);
  assert.deepEqual([near(0.5, 0.3), near(-0.1, 0), near(2.1, 1)], [null, null, null]);
  assert.equal(near(0, 0, bundle.all.filter((line) => line !== 2)), 1);
});
