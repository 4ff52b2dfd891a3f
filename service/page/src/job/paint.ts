// Paints trials on a chart: colour says the technique, shape says what became of it.
import uPlot from "uplot";
import { colourOf, css } from "../lib/colours.ts";
import { duration, gain } from "../lib/format.ts";
import type { Row } from "../lib/table.ts";

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
  rows.forEach((row, i) => places.set(place(u, row, x(row)), 2 * i));
  return places;
}

export function paintTrials(u: uPlot, rows: Row[], places: Float32Array, techniques: string[], scheme: string): void {
  const { ctx } = u;
  const dot = devicePixelRatio;
  const many = rows.length > MANY;
  const radius = (rows.length > 3000 ? 1.6 : rows.length > 600 ? 2.4 : 3.2) * dot;
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
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left - 4, u.bbox.top, u.bbox.width + 8, u.bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.3 * dot;
  for (const [key, group] of [...groups].sort()) {
    const [shape, number] = key.split(" ") as [string, string];
    const colour = number === "-2" ? css("bad") : number === "-1" ? css("ink") : colourOf(Number(number), scheme);
    ctx.strokeStyle = colour;
    ctx.fillStyle = colour;
    ctx.globalAlpha = shape === "censored" ? 0.6 : 0.9;
    ctx.beginPath();
    for (const i of group) {
      const left = places[2 * i] ?? 0;
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

/** Each baseline as a dashed line with its name, its time and what the best gains over it. */
export function paintBaselines(u: uPlot, baselines: Baseline[]): void {
  const { ctx } = u;
  const dot = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * dot}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  const sorted = [...baselines].sort((a, b) => a.value - b.value)
    .map((one) => ({ ...one, y: u.valToPos(one.value, "y", true) }))
    .filter(({ y }) => y >= u.bbox.top - 1 && y <= u.bbox.top + u.bbox.height + 1);
  for (const { y } of sorted) {
    ctx.strokeStyle = css("baseline");
    ctx.lineWidth = dot;
    ctx.setLineDash([6 * dot, 4 * dot]);
    ctx.beginPath();
    ctx.moveTo(u.bbox.left, y);
    ctx.lineTo(u.bbox.left + u.bbox.width, y);
    ctx.stroke();
  }
  // The fastest is what counts most: it is named first, and others where there is room. Names
  // lie over all lines, so that none goes through one.
  const named: number[] = [];
  const [fastest] = sorted;
  for (const one of sorted) {
    const { y } = one;
    // On a phone the names would cover the trials.
    if (named.some((other) => Math.abs(y - other) < 13 * dot) || (u.width < 480 && one !== fastest)) continue;
    named.push(y);
    const text = `${one.label}  ${duration(one.value)}${one.gain === null ? "" : `  (${gain(one.gain)})`}`;
    ctx.setLineDash([]);
    const below = y - u.bbox.top < 16 * dot;
    const width = ctx.measureText(text).width;
    const right = u.bbox.left + u.bbox.width - 4 * dot;
    ctx.fillStyle = css("ground");
    ctx.globalAlpha = 0.9;
    ctx.fillRect(right - width - 3 * dot, below ? y + 3 * dot : y - 15 * dot, width + 6 * dot, 13 * dot);
    ctx.globalAlpha = 1;
    ctx.fillStyle = css("ink-2");
    ctx.fillText(text, right, below ? y + 13 * dot : y - 5 * dot);
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
