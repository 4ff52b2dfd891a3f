import assert from "node:assert/strict";
import { test } from "node:test";
import type uPlot from "uplot";
import { isZoomed, pan, renew, scaled, shifted, showAll, zoom } from "../src/charts/moving.ts";

/** What a chart knows of its x scale. */
function chart(data: number[], min: number, max: number) {
  const u = {
    data: [data], scales: { x: { min, max } }, whole: 0,
    setScale(_name: string, to: { min: number; max: number }) { u.scales.x = to; },
    setData(next: number[][], all = true) {
      u.data = next as [number[]];
      if (all) { u.scales.x = { min: next[0]?.[0] ?? 0, max: next[0]?.at(-1) ?? 0 }; u.whole += 1; }
    },
    batch(work: () => void) { work(); },
  };
  return u;
}

test("a span is moved within the whole and keeps its length", () => {
  assert.deepEqual(shifted([2, 4], [0, 10], 0.5), [3, 5]);
  assert.deepEqual(shifted([2, 4], [0, 10], -3), [0, 2]);
  assert.deepEqual(shifted([7, 9], [0, 10], 3), [8, 10]);
});

test("a span is scaled around a place, which stays where it is", () => {
  assert.deepEqual(scaled([0, 10], [0, 10], 5, 0.5), [2.5, 7.5]);
  assert.deepEqual(scaled([2, 4], [0, 10], 2, 2), [2, 6]);
  assert.deepEqual(scaled([2, 4], [0, 10], 3, 100), [0, 10]);
});

test("a chart is zoomed, panned and shown whole again", () => {
  const u = chart([0, 5, 10], 0, 10);
  zoom(u as unknown as uPlot, 0.5);
  assert.equal(isZoomed(u as unknown as uPlot), true);
  pan(u as unknown as uPlot, 10);
  assert.deepEqual(u.scales.x, { min: 5, max: 10 });
  showAll(u as unknown as uPlot);
  assert.equal(isZoomed(u as unknown as uPlot), false);
});

test("new trials leave what is zoomed where it is, and widen what is not", () => {
  const zoomed = chart([1, 5, 10], 2, 4);
  renew(zoomed as unknown as uPlot, [[1, 5, 10, 11]] as uPlot.AlignedData);
  assert.deepEqual([zoomed.scales.x, zoomed.data[0]?.length], [{ min: 2, max: 4 }, 4]);
  const whole = chart([1, 5, 10], 1, 10);
  renew(whole as unknown as uPlot, [[1, 5, 10, 11]] as uPlot.AlignedData);
  assert.deepEqual(whole.scales.x, { min: 1, max: 11 });
});
