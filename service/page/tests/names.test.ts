import assert from "node:assert/strict";
import { test } from "node:test";
import { called } from "../src/notifications/names.ts";

test("a job is called by its name, a deleted one has no page, and one not yet known is called by its id", () => {
  const names = new Map([["a", "cg-64"], ["b", null]]);
  assert.deepEqual(called("a", names), { name: "cg-64", shown: true });
  assert.deepEqual(called("b", names), { name: "deleted job", shown: false });
  assert.deepEqual(called("c", names), { name: "c", shown: true });
});
