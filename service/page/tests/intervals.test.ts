import assert from "node:assert/strict";
import { test } from "node:test";
import { intervalOf } from "../src/lib/intervals.ts";

test("a single run has no interval", () => {
  assert.deepEqual(intervalOf([2]), { mean: 2, half: null });
});

test("the interval of three runs is Student's", () => {
  const { mean, half } = intervalOf([1, 2, 3]);
  assert.equal(mean, 2);
  assert.ok(Math.abs((half ?? 0) - 4.303 / Math.sqrt(3)) < 1e-9);
});

test("runs that agree leave nothing open", () => {
  assert.equal(intervalOf([5, 5, 5]).half, 0);
});
