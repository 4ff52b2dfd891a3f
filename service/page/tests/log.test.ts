import assert from "node:assert/strict";
import { test } from "node:test";
import { logOf } from "../src/lib/log.ts";
import type { Trial } from "../src/lib/types.ts";

const TRIAL = {
  number: 3, kind: "search", label: null, technique: "PureRandom", state: "completed", value: 0.5, cached: false, reason: null, worker: "b",
  created_at: 1, started_at: 31.5, finished_at: 32,
  attempts: [
    { number: 1, state: "lost", worker: "a", dispatched_at: 1.1, heartbeat_at: 11, finished_at: 31 },
    { number: 2, state: "finished", worker: "b", dispatched_at: 31.2, heartbeat_at: 31.5, finished_at: 32 },
  ],
} as unknown as Trial;

test("a lost worker and the attempt after it are told in the order of time", () => {
  assert.deepEqual(logOf(TRIAL).map((line) => line.replace(/^\S+ \S+ {2}/, "")), [
    "asked by PureRandom",
    "attempt 1: offered to workers",
    "attempt 1: given up on a, which was last heard of 20 s before",
    "attempt 2: offered to workers",
    "taken by b",
    "attempt 2: finished on b",
    "completed, 500 ms",
  ]);
});

test("what the cache answered has no attempt, and a reason is told in full", () => {
  const cached = { ...TRIAL, attempts: [], cached: true, worker: null };
  assert.match(logOf(cached).join(), /completed, 500 ms, answered by the cache/);
  const failed = { ...TRIAL, state: "failed", value: null, reason: { kind: "crash", message: "it crashed\nhere" } } as unknown as Trial;
  assert.deepEqual(logOf(failed).slice(-2), ["", "it crashed\nhere"]);
});
