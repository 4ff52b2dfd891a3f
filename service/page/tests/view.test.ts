import assert from "node:assert/strict";
import { test } from "node:test";
import { around, crosses, farFrom, isShown, isWhole, placeIn, scaledView, shiftedView, WHOLE } from "../src/charts/view.ts";

test("zooming leaves the place under the mouse where it is, within the whole", () => {
  const near = scaledView(WHOLE, 0.5, [0.25, 0.75], [0.25, 0.75]);
  assert.deepEqual(near, { x: 0.125, y: 0.375, size: 0.5 });
  assert.deepEqual(placeIn(near, [0.25, 0.75]), [0.25, 0.75]);
  assert.deepEqual(scaledView(near, 4, [0.25, 0.75], [0.25, 0.75]), WHOLE);
  assert.equal(isWhole(scaledView(WHOLE, 1e-9, [0, 0], [0, 0])), false);
  assert.equal(scaledView(WHOLE, 1e-9, [1, 1], [1, 1]).size, 1 / 64);
});

test("panning goes by parts of what is shown, no further than the edge", () => {
  const quarter = { x: 0.5, y: 0.5, size: 0.25 };
  assert.deepEqual(shiftedView(quarter, 1, -1), { x: 0.75, y: 0.25, size: 0.25 });
  assert.deepEqual(shiftedView(quarter, 9, -9), { x: 0.75, y: 0, size: 0.25 });
  assert.deepEqual(shiftedView(WHOLE, 1, 1), WHOLE);
});

test("what is dragged over is shown whole, in the middle", () => {
  assert.deepEqual(around([0.5, 0.25], [0.25, 0.375]), { x: 0.25, y: 0.1875, size: 0.25 });
  assert.deepEqual(around([0.875, 0.875], [1, 1]), { x: 0.875, y: 0.875, size: 0.125 });
});

test("boxes and lines are shown where some of them lies in view", () => {
  const view = { x: 0.25, y: 0.25, size: 0.5 };
  assert.deepEqual([isShown(view, [0, 0], [0.2, 0.2]), isShown(view, [0, 0], [0.3, 0.3])], [false, true]);
  assert.equal(crosses(view, [0, 0], [1, 1]), true);
  assert.equal(crosses(view, [0, 0.5], [1, 0.5]), true); // both its ends lie outside
  assert.equal(crosses(view, [0, 0.5], [0.5, 1]), true); // through a corner
  assert.equal(crosses(view, [0, 0.6], [0.4, 1]), false);
  assert.equal(crosses(view, [0.1, 0], [0.1, 1]), false);
  assert.equal(crosses(view, [0.5, 0.5], [0.5, 0.5]), true);
});

test("how far a place is from a line ends at the line's ends", () => {
  assert.deepEqual([farFrom([0, 0], [4, 0], [2, 3]), farFrom([0, 0], [4, 0], [7, 4]), farFrom([1, 1], [1, 1], [1, 3])], [3, 5, 2]);
});
