import assert from "node:assert/strict";
import { test } from "node:test";
import { inTurn } from "../src/lib/turns.ts";

test("trials that were taken together follow one another", () => {
  const taken = [
    { worker: "a", from: 10, to: 16, took: 2 },
    { worker: "b", from: 10, to: 11, took: 1 },
    { worker: "a", from: 10, to: 16, took: 3.5 },
    { worker: "a", from: 16, to: 17, took: null },
  ];
  assert.deepEqual(inTurn(taken).map(({ from, to }) => [from, to]), [[10, 12], [10, 11], [12, 15.5], [16, 17]]);
});

test("none ends after it was stored", () => {
  assert.deepEqual(inTurn([{ worker: "a", from: 1, to: 2, took: 5 }, { worker: "a", from: 1, to: 2, took: 5 }]).map(({ from, to }) => [from, to]), [[1, 2], [2, 2]]);
});
