import assert from "node:assert/strict";
import { test } from "node:test";
import { joined, nextStep, stepsOf } from "../src/lib/curves.ts";
import type { Curve } from "../src/lib/types.ts";

function curve(job_id: string, trial: number[], best: number[], baseline: number | null): Curve {
  return { job_id, trial, best, wall_seconds: trial, cpu_seconds: trial, baseline, baseline_label: null, gain: null, error: null };
}

const CURVES = [curve("a", [1, 3, 9], [4, 2, 2], 4), curve("b", [2, 8], [6, 3], 6)];

test("curves share their places along x", () => {
  assert.deepEqual(joined(CURVES, "trial", "time"), [[1, 2, 3, 8, 9], [4, undefined, 2, undefined, 2], [undefined, 6, undefined, 3, undefined]]);
});

test("steps are what was better than all before it", () => {
  assert.deepEqual(stepsOf(CURVES, "trial", "gain").map(({ job, trial, y }) => [job, trial, y]), [["a", 1, 0], ["a", 3, 100], ["b", 2, 0], ["b", 8, 100]]);
  assert.deepEqual(stepsOf([curve("c", [1], [4], null)], "trial", "gain"), []);
});

test("keys walk along the steps of a job and from job to job", () => {
  const steps = stepsOf(CURVES, "trial", "time");
  const trial = (at: number | null, key: string) => nextStep(steps, at === null ? null : (steps[at] ?? null), key)?.trial ?? null;
  assert.deepEqual([trial(null, "ArrowRight"), trial(0, "ArrowRight"), trial(1, "ArrowRight"), trial(1, "Home"), trial(2, "End")], [1, 3, 3, 1, 8]);
  assert.deepEqual([trial(1, "ArrowDown"), trial(3, "ArrowUp"), trial(0, "ArrowUp"), trial(0, "x"), nextStep([], null, "Home")], [2, 3, 1, null, null]);
  // What a job that goes on has meanwhile replaced is looked for anew.
  assert.equal(nextStep(steps, { job: "gone", trial: 1, seconds: 1, x: 1, y: 1 }, "ArrowRight")?.trial, 1);
});
