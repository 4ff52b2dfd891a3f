// Where the name of a line goes on a chart, so that it hides the fewest trials.

export interface Box { left: number; top: number; width: number; height: number }

/** The first of the boxes that covers the fewest places, each a dot of a radius, and none of those taken; null where all are taken. */
export function spotOf(boxes: readonly Box[], taken: readonly Box[], places: ArrayLike<number>, radius = 0): Box | null {
  let found: Box | null = null;
  let least = Infinity;
  for (const box of boxes) {
    if (taken.some((other) => overlap(box, other))) continue;
    const covered = coveredBy({ left: box.left - radius, top: box.top - radius, width: box.width + 2 * radius, height: box.height + 2 * radius }, places, least);
    if (covered < least) { least = covered; found = box; }
  }
  return found;
}

function overlap(one: Box, other: Box): boolean {
  return one.left < other.left + other.width && other.left < one.left + one.width
    && one.top < other.top + other.height && other.top < one.top + one.height;
}

/** How many places, x and y by turns, lie in a box; no further than tells that there are as many as `most`. */
function coveredBy({ left, top, width, height }: Box, places: ArrayLike<number>, most: number): number {
  let covered = 0;
  for (let i = 0; i < places.length && covered < most; i += 2) {
    const x = places[i] ?? 0;
    const y = places[i + 1] ?? 0;
    if (x >= left && x <= left + width && y >= top && y <= top + height) covered += 1;
  }
  return covered;
}
