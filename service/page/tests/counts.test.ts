import assert from "node:assert/strict";
import { test } from "node:test";
import { failedTrials, inTheSpace, otherTrials, searchTrials, spaceLimit } from "../src/lib/counts.ts";
import { limitOf } from "../src/lib/limits.ts";
import type { Job, Progress } from "../src/lib/types.ts";

function job(progress: Partial<Progress>, trials: number | null = 60, size = 1000): Job {
  const spec = { budget: { trials }, limits: { wall_seconds: 0.008, memory: 4294967296 } };
  const none = { trials: {}, finished: 0, kinds: {}, evaluations: 0, cpu_seconds: 0, best: null, failures: [] };
  return { state: "failed", spec, space: { size, parameters: [] }, progress: { ...none, ...progress } } as unknown as Job;
}

const FAILED = job({
  finished: 69, kinds: { search: 60, baseline: 9 },
  failures: [{ kind: "wall", message: "stopped after 0.008000 s of wall-clock time", trials: 67 }, { kind: "crash", message: "it crashed", trials: 2 }],
});

test("each count says what it counts", () => {
  assert.deepEqual(searchTrials(FAILED), ["60 of 60", "search trials"]);
  assert.equal(otherTrials(FAILED), "+ 9 baselines");
  assert.equal(failedTrials(FAILED), "69 of 69 trials in all failed: stopped by limits.wall_seconds (8 ms) (67 of them)");
  assert.equal(inTheSpace(FAILED), "Trials of the search space are the search trials and the baselines that lie in it.");
  assert.equal(failedTrials(job({ finished: 3, failures: [{ kind: "crash", message: "it crashed", trials: 1 }] })), "1 of 3 trials in all failed: it crashed");
  assert.equal(failedTrials(job({})), null);
  assert.equal(inTheSpace(job({ finished: 60, kinds: { search: 60 } })), null);
});

test("a search without a limit has trials of no number", () => {
  assert.deepEqual(searchTrials(job({ kinds: { search: 1 } }, null)), ["1", "search trial"]);
  assert.equal(spaceLimit(job({}, null)), null);
});

test("a space that is smaller than the budget is said to be what limits the search", () => {
  const small = job({ kinds: { search: 8 } }, 60, 21);
  assert.deepEqual(searchTrials(small), ["8 of 21", "search trials"]);
  assert.equal(spaceLimit(small), "the search space has at most 21 configurations that differ, baselines in it among them");
  assert.equal(spaceLimit(job({})), null);
});

test("what comes on top of the budget is told by its kind", () => {
  const kinds = { search: 60, estimate: 3, baseline: 3, refinement: 5, verification: 4, comparison: 2 };
  assert.equal(otherTrials(job({ kinds })), "+ 3 baselines + 5 refined + 7 verified + 2 compared by fluid");
  assert.equal(otherTrials(job({ kinds: { search: 60 } })), null);
});

test("the limit that stopped an evaluation is named with its value", () => {
  assert.equal(limitOf(FAILED, { kind: "wall" }), "limits.wall_seconds (8 ms)");
  assert.equal(limitOf(FAILED, { kind: "memory" }), "limits.memory (4.0 GiB)");
  assert.equal(limitOf({ spec: {} }, { kind: "wall" }), "limits.wall_seconds");
  assert.equal(limitOf(FAILED, { kind: "crash" }), null);
  assert.equal(limitOf(FAILED, { kind: "wall" }, "comparison"), null);
});
