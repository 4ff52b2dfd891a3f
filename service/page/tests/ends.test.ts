import assert from "node:assert/strict";
import test from "node:test";
import type uPlot from "uplot";
import { toTheLastRow } from "../src/charts/ends.ts";

const range = (options: Parameters<typeof toTheLastRow>[0]) => toTheLastRow(options).scales?.["x"]?.range as uPlot.Range.Function;

test("the axis ends a hair after the last row", () => {
  const [min, max] = range({ scales: { x: { time: false } }, series: [] })({} as uPlot, 2, 12, "x");
  assert.equal(min, 2);
  assert.ok(max! > 12 && max! < 12.001);
});

test("an axis without rows has no end, and one with a range of its own keeps it", () => {
  assert.deepEqual(range({ series: [] })({} as uPlot, null as unknown as number, null as unknown as number, "x"), [null, null]);
  const own: uPlot.Range.Function = () => [0, 1];
  assert.equal(range({ scales: { x: { range: own } }, series: [] }), own);
});
