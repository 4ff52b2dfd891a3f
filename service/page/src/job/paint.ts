// Paints trials on a chart: colour says the technique, shape says what became of it.
import uPlot from "uplot";
import { colourOf, css } from "../lib/colours.ts";
import { duration, gain } from "../lib/format.ts";
import type { Row } from "../lib/table.ts";
import { spotOf, type Box } from "./spots.ts";

const AWAY = [2, 8, 14]; // pixels from a baseline to its name, the first that hides no trial
const MANY = 1200; // rows, of which circles would take long to fill and look like squares

export interface Baseline { label: string; value: number; gain: number | null }

/** Where a row lies on the chart in canvas pixels; trials without a time lie on its lower edge. */
export function place(u: uPlot, row: Row, x: number): [number, number] {
  const left = u.valToPos(x, "x", true);
  if (row.value === null || row.value <= 0) return [left, u.bbox.top + u.bbox.height - 6 * devicePixelRatio];
  return [left, u.valToPos(row.value, "y", true)];
}

export function techniquesOf(rows: Row[]): string[] {
  return [...new Set(rows.map((row) => row.technique).filter((name): name is string => name !== null))];
}

/** Where each row lies, in canvas pixels: x and y by turns. */
export function placesOf(u: uPlot, rows: Row[], x: (row: Row) => number): Float32Array {
  const places = new Float32Array(2 * rows.length);
  const low = u.bbox.top + u.bbox.height - 6 * devicePixelRatio;
  rows.forEach((row, i) => {
    places[2 * i] = u.valToPos(x(row), "x", true);
    places[2 * i + 1] = row.value === null || row.value <= 0 ? low : u.valToPos(row.value, "y", true);
  });
  return places;
}

const grouped = new WeakMap<Row[], { techniques: string[]; groups: [string, number[]][] }>();

/** Rows that are painted alike, told by shape and colour; the same for every zoom. */
function groupsOf(rows: Row[], techniques: string[]): [string, number[]][] {
  const known = grouped.get(rows);
  if (known?.techniques === techniques) return known.groups;
  const index = new Map(techniques.map((name, i) => [name, i]));
  const groups = new Map<string, number[]>();
  rows.forEach((row, i) => {
    const shape = row.state === "completed" ? (row.cached ? "ring" : "disc") : row.state === "censored" ? "censored" : "cross";
    const colour = shape === "cross" ? -2 : row.technique === null ? -1 : (index.get(row.technique) ?? 0);
    const key = `${shape} ${colour}`;
    const group = groups.get(key);
    if (group) group.push(i);
    else groups.set(key, [i]);
  });
  const sorted = [...groups].sort();
  grouped.set(rows, { techniques, groups: sorted });
  return sorted;
}

export function paintTrials(u: uPlot, rows: Row[], places: Float32Array, techniques: string[], scheme: string): void {
  const { ctx } = u;
  const dot = devicePixelRatio;
  const many = rows.length > MANY;
  const radius = (rows.length > 3000 ? 1.6 : rows.length > 600 ? 2.4 : 3.2) * dot;
  const [from, to] = [u.bbox.left - 2 * radius, u.bbox.left + u.bbox.width + 2 * radius];
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left - 4, u.bbox.top, u.bbox.width + 8, u.bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.3 * dot;
  for (const [key, group] of groupsOf(rows, techniques)) {
    const [shape, number] = key.split(" ") as [string, string];
    const colour = number === "-2" ? css("bad") : number === "-1" ? css("ink") : colourOf(Number(number), scheme);
    ctx.strokeStyle = colour;
    ctx.fillStyle = colour;
    ctx.globalAlpha = shape === "censored" ? 0.6 : 0.9;
    ctx.beginPath();
    for (const i of group) {
      const left = places[2 * i] ?? 0;
      if (left < from || left > to) continue; // beside the part that is zoomed
      const top = places[2 * i + 1] ?? 0;
      if (shape === "disc" && many) {
        ctx.fillRect(left - radius, top - radius, 2 * radius, 2 * radius);
      } else if (shape === "ring" && many) {
        ctx.rect(left - radius, top - radius, 2 * radius, 2 * radius);
      } else if (shape === "disc" || shape === "ring") {
        ctx.moveTo(left + radius, top);
        ctx.arc(left, top, radius, 0, 2 * Math.PI);
      } else if (shape === "censored") {
        ctx.moveTo(left - radius, top + radius * 0.6);
        ctx.lineTo(left, top - radius);
        ctx.lineTo(left + radius, top + radius * 0.6);
      } else {
        ctx.moveTo(left - radius, top - radius);
        ctx.lineTo(left + radius, top + radius);
        ctx.moveTo(left + radius, top - radius);
        ctx.lineTo(left - radius, top + radius);
      }
    }
    if (shape === "disc") ctx.fill();
    else ctx.stroke();
  }
  ctx.restore();
}

/** The baselines in view, the fastest first, with their height in canvas pixels. */
function inView(u: uPlot, baselines: Baseline[]): (Baseline & { y: number })[] {
  return [...baselines].sort((a, b) => a.value - b.value)
    .map((one) => ({ ...one, y: u.valToPos(one.value, "y", true) }))
    .filter(({ y }) => y >= u.bbox.top - 1 && y <= u.bbox.top + u.bbox.height + 1);
}

/** Each baseline as a dashed line. */
export function paintBaselines(u: uPlot, baselines: Baseline[]): void {
  const { ctx } = u;
  const dot = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = css("baseline");
  ctx.lineWidth = dot;
  ctx.setLineDash([6 * dot, 4 * dot]);
  for (const { y } of inView(u, baselines)) {
    ctx.beginPath();
    ctx.moveTo(u.bbox.left, y);
    ctx.lineTo(u.bbox.left + u.bbox.width, y);
    ctx.stroke();
  }
  ctx.restore();
}

/**
 * Each baseline's name, its time and what the best gains over it, over all lines and trials, so
 * that none goes through a name; beside its line where that hides the fewest trials.
 */
export function nameBaselines(u: uPlot, baselines: Baseline[], places: Float32Array): void {
  const { ctx, bbox } = u;
  const dot = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * dot}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  const height = 13 * dot;
  const taken: Box[] = [];
  const shown = inView(u, baselines);
  // The fastest is what counts most: it is named first, and others where there is room. On a
  // phone the names of all would cover the trials.
  for (const { label, value, gain: over, y } of u.width < 480 ? shown.slice(0, 1) : shown) {
    const text = `${label}  ${duration(value)}${over === null ? "" : `  (${gain(over)})`}`;
    const width = ctx.measureText(text).width + 6 * dot;
    const boxes = AWAY.flatMap((away) => [y - away * dot - height, y + away * dot]).flatMap((top) =>
      [bbox.left + bbox.width - width - dot, bbox.left + dot].map((left): Box => ({ left, top, width, height })))
      .filter(({ top }) => top >= bbox.top && top + height <= bbox.top + bbox.height);
    const box = spotOf(boxes, taken, places, 4 * dot);
    if (!box) continue;
    taken.push(box);
    ctx.fillStyle = css("panel");
    ctx.fillRect(box.left, box.top, width, height);
    ctx.fillStyle = css("ink-2");
    ctx.fillText(text, box.left + 3 * dot, box.top + 10 * dot);
  }
  ctx.restore();
}

/** A ring around the trial that is looked at. */
export function paintMark(u: uPlot, row: Row | null, x: (row: Row) => number): void {
  if (!row) return;
  const { ctx } = u;
  const [left, top] = place(u, row, x(row));
  ctx.save();
  ctx.strokeStyle = css("accent");
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.beginPath();
  ctx.arc(left, top, 7 * devicePixelRatio, 0, 2 * Math.PI);
  ctx.stroke();
  ctx.restore();
}
