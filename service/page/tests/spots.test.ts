import assert from "node:assert/strict";
import { test } from "node:test";
import { spotOf } from "../src/job/spots.ts";
import { fitted } from "../src/charts/fitted.ts";

const [right, left] = [{ left: 100, top: 10, width: 50, height: 13 }, { left: 0, top: 10, width: 50, height: 13 }];

test("a name lies where it hides the fewest trials, in the first place where they are as many", () => {
  assert.equal(spotOf([right, left], [], [120, 15, 130, 20, 20, 15]), left);
  assert.equal(spotOf([right, left], [], [120, 15, 20, 15]), right);
  assert.equal(spotOf([right, left], [], []), right);
  assert.equal(spotOf([right, left], [], [120, 7]), right);
  assert.equal(spotOf([right, left], [], [120, 7], 4), left); // the dot reaches into it
});

test("names do not lie on one another", () => {
  assert.equal(spotOf([right, left], [right], [20, 15]), left);
  assert.equal(spotOf([right, left], [{ ...right, top: 23 }], []), right); // they touch
  assert.equal(spotOf([right, left], [right, left], []), null);
});

test("a text is cut to its room, with an ellipsis", () => {
  const pen = { measureText: (text: string) => ({ width: 6 * text.length }) as TextMetrics };
  assert.equal(fitted(pen, "topology", 48), "topology");
  assert.equal(fitted(pen, "topology_seed", 48), "topolog…");
  assert.equal(fitted(pen, "topology", 3), "…");
});
