import assert from "node:assert/strict";
import { test } from "node:test";
import { figuresOf, reasonsOf, type Measured } from "../src/lib/beside.ts";

function trial(number: number, value: number | null, busiest: number, all: number, changes: Partial<Measured> = {}): Measured {
  return {
    number, value, state: value === null ? "failed" : "completed", fidelity: "full", kind: "search",
    summary: value === null ? null : {
      rank_finish_times: { ranks: 2, quantiles: { "0.5": value / 2, "1": value }, worst: [] },
      link_loads: { cables: 4, bytes: all, quantiles: { "1": busiest }, worst: [] },
    },
    ...changes,
  };
}

test("the slower one is told apart by what its cables carry", () => {
  assert.deepEqual(reasonsOf(trial(1, 1, 100, 400), trial(2, 3, 250, 404)), [
    "Trial 2 takes 3.00 times as long as trial 1.", "Its busiest cable carries 2.50 times as much.",
  ]);
  assert.match(reasonsOf(trial(1, 3, 100, 400), trial(2, 1, 100, 400))[1] ?? "", /^Its cables carry no more/);
  assert.match(reasonsOf(trial(1, 3, 100, 800), trial(2, 1, 100, 400))[1] ?? "", /together carry 2.00 times as much/);
});

test("times that cannot be compared are not", () => {
  assert.match(reasonsOf(trial(1, 1, 1, 1), trial(2, 2, 1, 1, { fidelity: "low" }))[0] ?? "", /cannot be compared/);
  assert.match(reasonsOf(trial(1, 1, 1, 1), trial(2, 2, 1, 1, { kind: "comparison" }))[0] ?? "", /network models/);
  assert.deepEqual(reasonsOf(trial(1, 1, 1, 1), trial(2, null, 1, 1)), []);
  assert.deepEqual(reasonsOf(trial(1, 1, 1, 1), trial(2, 1, 1, 1)), ["Both take the same time."]);
  const fluid = { kind: "comparison" };
  assert.match(reasonsOf(trial(1, 1, 1, 1, fluid), trial(2, 2, 1, 1, fluid))[0] ?? "", /takes 2.00 times/);
  assert.equal(reasonsOf(trial(1, 1, 0, 0), trial(2, 2, 1, 1))[1], "The other one sends nothing over cables.");
});

test("figures that neither has are left out", () => {
  assert.deepEqual(figuresOf(trial(1, 2, 30, 40), trial(2, null, 0, 0)).map((one) => [one.name, one.mine, one.other]), [
    ["Simulated time", 2, null], ["Median rank finishes", 1, null], ["Busiest cable, one way", 30, null], ["All cables together", 40, null],
  ]);
  assert.deepEqual(figuresOf(trial(1, null, 0, 0), trial(2, null, 0, 0)), []);
});
