import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf } from "../src/charts/csv.ts";

test("cells with commas, quotes or line ends are quoted, and nothing is an empty cell", () => {
  assert.equal(csvOf([["trial", "label"], [1, 'a "b", c'], [2, null]]), 'trial,label\r\n1,"a ""b"", c"\r\n2,\r\n');
});
