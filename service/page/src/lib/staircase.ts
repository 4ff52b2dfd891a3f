// A front as the columns that a chart takes: all prices in order, and what stands at each.
import type { Front, FrontPoint } from "./types.ts";

type Column = (number | null)[];

/** Prices; then times of other networks, of baselines, of the corners of the staircase, of the front. */
export function staircase(front: Front): Column[] {
  const rows: [number, number, number | null, number | null, number | null, number | null][] = [];
  let order = 0;
  const add = (price: number, other: number | null, baseline: number | null, step: number | null, mine: number | null) =>
    rows.push([price, order++, other, baseline, step, mine]);
  const price = (one: FrontPoint) => one[front.by];
  for (const one of front.others) add(price(one), one.value, null, null, null);
  for (const one of front.baselines) add(price(one), null, one.value, null, null);
  const points = [...front.points].sort((a, b) => price(a) - price(b));
  points.forEach((one, i) => {
    const before = points[i - 1];
    if (before) add(price(one), null, null, before.value, null);
    add(price(one), null, null, one.value, one.value);
  });
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [0, 2, 3, 4, 5].map((column) => rows.map((row) => row[column] as number | null));
}
