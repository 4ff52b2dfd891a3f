// The completed trials of a job's search space as lines over axes, in arrays that are quick to go through.
import { compared, searched } from "./table.ts";
import type { Convergence, Row } from "./table.ts";
import type { Scalar } from "./types.ts";

/** A parameter that took several values; null where it does not count. */
export interface Axis { name: string; values: (Scalar | null)[] }

export interface Bundle {
  axes: Axis[];
  /** How many trials the lines are of. */
  trials: number;
  /** How many lines: trials that differ in nothing but their number are one. */
  count: number;
  /** 0, 1, ...: all lines, from the slowest to the fastest. */
  all: Int32Array;
  /** For each line a place on each axis and on that of the time, from 0 (top) to 1. */
  ys: Float32Array;
  /** The place on the axis of the time, by line. */
  shares: Float32Array;
  /** The trials of each line. */
  rows: Row[][];
  /** Logarithms of the least and the greatest time. */
  low: number;
  high: number;
}

export function axesOf(convergence: Pick<Convergence, "rows" | "names">): Axis[] {
  const rows = searched(convergence.rows);
  return convergence.names.flatMap((name) => {
    const values = new Set<Scalar | null>(rows.map((row) => row.parameters.get(name) ?? null));
    if (values.size < 2) return [];
    const numeric = [...values].every((value) => value === null || typeof value === "number");
    const sorted = [...values].sort((a, b) => (a === null ? 1 : b === null ? -1 : numeric ? Number(a) - Number(b) : compare(String(a), String(b))));
    return [{ name, values: sorted }];
  });
}

/** Not `localeCompare`, which takes a hundred times as long. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const STEPS = 1000; // of the axis of the time that a line can tell apart

export function bundleOf(convergence: Pick<Convergence, "rows" | "names">): Bundle {
  const axes = axesOf(convergence);
  const completed = compared(convergence.rows);
  let low = Infinity;
  let high = -Infinity;
  for (const row of completed) {
    const time = Math.log(row.value as number);
    low = Math.min(low, time);
    high = Math.max(high, time);
  }
  const places = axes.map((axis) => new Map(axis.values.map((value, i) => [value, i])));
  const found = new Map<string, { codes: number[]; share: number; rows: Row[] }>();
  for (const row of completed) {
    const share = high > low ? (high - Math.log(row.value as number)) / (high - low) : 0.5;
    const codes = axes.map((axis, i) => places[i]?.get(row.parameters.get(axis.name) ?? null) ?? 0);
    const key = `${codes.join()} ${Math.round(share * STEPS)}`;
    const line = found.get(key);
    if (line) line.rows.push(row);
    else found.set(key, { codes, share, rows: [row] });
  }
  const lines = [...found.values()].sort((a, b) => a.share - b.share);
  const width = axes.length + 1;
  const ys = new Float32Array(lines.length * width);
  lines.forEach((line, l) => {
    line.codes.forEach((code, i) => { ys[l * width + i] = code / ((axes[i]?.values.length ?? 2) - 1); });
    ys[l * width + axes.length] = line.share;
  });
  return {
    axes, trials: completed.length, count: lines.length, low, high, ys,
    all: Int32Array.from(lines, (_, i) => i),
    shares: Float32Array.from(lines, (line) => line.share),
    rows: lines.map((line) => line.rows),
  };
}

/** The line that runs nearest to a place, told by the number of an axis (or between two) and from 0 (top) to 1; null where none is near. */
export function lineNear(bundle: Pick<Bundle, "axes" | "ys">, lines: Int32Array, across: number, down: number, near: number): number | null {
  const width = bundle.axes.length + 1;
  if (across < 0 || across > width - 1) return null;
  const left = Math.min(width - 2, Math.floor(across));
  const share = across - left;
  let [found, least]: [number | null, number] = [null, near];
  for (const line of lines) {
    const [a, b] = [bundle.ys[line * width + left] ?? 0, bundle.ys[line * width + left + 1] ?? 0];
    const distance = Math.abs(a + (b - a) * share - down);
    // Of lines that lie over one another the last is on top: the fastest.
    if (distance <= least) [found, least] = [line, distance];
  }
  return found;
}
