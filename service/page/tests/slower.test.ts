import assert from "node:assert/strict";
import { test } from "node:test";
import { slowerThan } from "../src/lib/slower.ts";

const job = { spec: { search: { topology: ["random", { family: "torus-2d" }] } } };

test("a baseline that the search may not choose is said to be outside", () => {
  assert.equal(slowerThan(job, "torus-3d"), "the best is slower than the baseline torus-3d, which is not in the search space");
  assert.equal(slowerThan(job, "torus-2d"), "the best is slower than the baseline torus-2d");
  assert.equal(slowerThan(job, "random mpich"), "the best is slower than the baseline random mpich");
  assert.equal(slowerThan(job, null), "the best is slower than the best baseline");
});
