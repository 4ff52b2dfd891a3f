import assert from "node:assert/strict";
import { test } from "node:test";
import { logSplits } from "../src/charts/splits.ts";

test("a logarithmic axis over powers of ten has three marks in each", () => {
  assert.deepEqual(logSplits(0.8e-6, 30e-6), [1e-6, 2e-6, 5e-6, 1e-5, 2e-5]);
});

test("between two powers of ten it has even steps", () => {
  assert.deepEqual(logSplits(1.154e-3, 1.9e-3), [0.0012, 0.0013, 0.0014, 0.0015, 0.0016, 0.0017, 0.0018, 0.0019]);
  assert.deepEqual(logSplits(41, 43), [41, 41.2, 41.4, 41.6, 41.8, 42, 42.2, 42.4, 42.6, 42.8, 43]);
});

test("marks lie within the axis, and are neither none nor many", () => {
  for (let i = 1; i < 400; i += 1) {
    const [min, max] = [i * 1.7e-7, i * 1.7e-7 * (1 + 10 ** (i / 60 - 3))];
    const splits = logSplits(min, max);
    assert.ok(splits.length >= 2 && splits.length <= 20, `${min} ${max} ${splits.length}`);
    assert.ok(splits.every((one, k) => one >= min * (1 - 1e-9) && one <= max * (1 + 1e-9) && (k === 0 || one > (splits[k - 1] ?? 0))));
  }
});

test("what is no logarithmic axis has none", () => {
  assert.deepEqual(logSplits(0, 1), []);
  assert.deepEqual(logSplits(2, 2), []);
});
