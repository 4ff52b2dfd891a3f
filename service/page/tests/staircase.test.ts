import assert from "node:assert/strict";
import test from "node:test";
import { staircase } from "../src/lib/staircase.ts";
import type { Front, FrontPoint } from "../src/lib/types.ts";

const point = (trial: number, cost: number, value: number): FrontPoint =>
  ({ trial, label: null, value, cost, power: 10 * cost, switches: 1, cables: 1, adapters: 0, metres: 1, diameter: 1, network: "ring" });

const front = (by: "cost" | "power"): Front => ({
  by, points: [point(2, 10, 3), point(1, 20, 1)], others: [point(3, 15, 4)], baselines: [point(4, 5, 9)],
  hypervolume: 1, share: 1, note: null,
});

test("a front is a staircase: the time of what is cheaper holds until the price of the next", () => {
  assert.deepEqual(staircase(front("cost")), [
    [5, 10, 15, 20, 20],
    [null, null, 4, null, null],
    [9, null, null, null, null],
    [null, 3, null, 3, 1],
    [null, 3, null, null, 1],
  ]);
});

test("watts stand in the place of cost", () => {
  assert.deepEqual(staircase(front("power"))[0], [50, 100, 150, 200, 200]);
});

test("one point is no line", () => {
  assert.deepEqual(staircase({ ...front("cost"), points: [point(1, 7, 2)], others: [], baselines: [] }), [[7], [null], [null], [2], [2]]);
});
