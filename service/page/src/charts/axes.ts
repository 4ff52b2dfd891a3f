import type uPlot from "uplot";
import { css } from "../lib/colours.ts";
import { clock, duration } from "../lib/format.ts";
import { logSplits } from "./splits.ts";

export type XAxis = "trial" | "wall" | "cpu";

export const X_NAMES: Record<XAxis, string> = { trial: "trial", wall: "wall clock", cpu: "simulator CPU" };

/** Steps between trials, of which there are no halves. */
const WHOLE = Array.from({ length: 8 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

export function axis(label: string, values: (u: uPlot, splits: number[]) => string[], size?: number): uPlot.Axis {
  return {
    label,
    stroke: () => css("ink-2"),
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    labelSize: 20,
    ...(size ? { size } : {}),
    grid: { stroke: () => css("line"), width: 1 },
    ticks: { stroke: () => css("line"), width: 1 },
    values,
  };
}

export function xAxis(kind: XAxis): uPlot.Axis {
  if (kind === "trial") return { ...axis("trial", (_u, splits) => splits.map(String), 44), incrs: WHOLE };
  return axis(X_NAMES[kind], (_u, splits) => splits.map((n) => clock(n)), 44);
}

/** Simulated time. */
export function timeAxis(label: string, log: boolean): uPlot.Axis {
  const plain = axis(label, (_u, splits) => splits.map((n) => (n > 0 ? duration(n) : n === 0 ? "0" : "")), 72);
  if (!log) return plain;
  return { ...plain, ...LOGARITHMIC, values: (u, splits) => thinned(u, splits, "y", 22) };
}

/** uPlot's own marks are powers of ten and little else, and a search often stays between two of them. */
const LOGARITHMIC: Pick<uPlot.Axis, "splits" | "filter"> = {
  splits: (_u, _axis, min, max) => logSplits(min, max),
  filter: (_u, splits) => splits,
};

/** Simulated time from left to right, logarithmic. */
export function timeAcross(label: string): uPlot.Axis {
  return { ...axis(label, (u, splits) => thinned(u, splits, "x", 64), 44), ...LOGARITHMIC };
}

/** Labels of the splits that lie `gap` pixels apart. */
function thinned(u: uPlot, splits: (number | null)[], scale: "x" | "y", gap: number): string[] {
  let last = Infinity;
  return splits.map((n) => {
    if (n === null) return "";
    const place = u.valToPos(n, scale);
    if (Math.abs(last - place) < gap) return "";
    last = place;
    return duration(n);
  });
}
