// Parallel coordinates: an axis for each parameter, a line for each trial, the time at the end.
// Trials that differ in nothing but their number are one line; brushes choose by dragging along
// an axis, the fields below the same without a mouse.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { css, ramp } from "../lib/colours.ts";
import { duration, plural } from "../lib/format.ts";
import { useScheme, useWidth } from "../lib/hooks.ts";
import type { Course, Row } from "../lib/table.ts";
import type { Scalar } from "../lib/types.ts";
import { short } from "./course.tsx";

const HEIGHT = 340;
const TOP = 34;
const BOTTOM = 14;
const SIDE = 70;
const TIME = "simulated time";
const BUCKETS = 24;
const MOST_LINES = 1000; // more are a blot
const MOST_MOVING = 300; // while a brush is dragged, so that painting keeps up with the hand

interface Axis { name: string; values: (Scalar | null)[]; numeric: boolean }
interface Line { ys: number[]; rows: Row[]; share: number }
type Brush = [number, number];

/** Where a value lies on its axis, from 0 (top) to 1. */
function axesOf(course: Course): Axis[] {
  const axes: Axis[] = [];
  for (const name of course.names) {
    const values = new Set<Scalar | null>(course.rows.map((row) => row.parameters.get(name) ?? null));
    if (values.size < 2) continue;
    const numeric = [...values].every((value) => value === null || typeof value === "number");
    const sorted = [...values].sort((a, b) => (a === null ? 1 : b === null ? -1 : numeric ? Number(a) - Number(b) : String(a).localeCompare(String(b))));
    axes.push({ name, values: sorted, numeric });
  }
  return axes;
}

export function Parallel({ course, pick }: { course: Course; pick: (number: number) => void }) {
  const [attach, width] = useWidth<HTMLDivElement>();
  const under = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [brushes, setBrushes] = useState<ReadonlyMap<string, Brush>>(new Map());
  const [dragging, setDragging] = useState(false);
  const scheme = useScheme();
  const axes = useMemo(() => axesOf(course), [course]);
  const rows = useMemo(() => course.rows.filter((row) => row.state === "completed" && row.value !== null), [course]);
  const scale = useMemo(() => {
    const [low, high] = minmax(rows.map((row) => Math.log(row.value as number)));
    return { low, high, at: (value: number) => (high > low ? (high - Math.log(value)) / (high - low) : 0.5) };
  }, [rows]);
  const lines = useMemo<Line[]>(() => {
    const index = axes.map((axis) => new Map(axis.values.map((value, i) => [value, axis.values.length > 1 ? i / (axis.values.length - 1) : 0.5])));
    const found = new Map<string, Line>();
    for (const row of rows) {
      const ys = axes.map((axis, i) => index[i]?.get(row.parameters.get(axis.name) ?? null) ?? 0);
      const time = scale.at(row.value as number);
      ys.push(time);
      const key = ys.map((y) => y.toFixed(3)).join();
      const line = found.get(key);
      if (line) line.rows.push(row);
      else found.set(key, { ys, rows: [row], share: time });
    }
    return [...found.values()].sort((a, b) => a.share - b.share);
  }, [axes, rows, scale]);
  const names = useMemo(() => [...axes.map((axis) => axis.name), TIME], [axes]);
  const chosen = useMemo(() => lines.filter((line) => names.every((name, i) => {
    const brush = brushes.get(name);
    return !brush || ((line.ys[i] ?? 0) >= brush[0] - 1e-9 && (line.ys[i] ?? 0) <= brush[1] + 1e-9);
  })), [lines, brushes, names]);

  const full = Math.max(width, names.length * 92 + 2 * SIDE);
  const x = (i: number) => SIDE + (i / Math.max(1, names.length - 1)) * (full - 2 * SIDE);
  const y = (share: number) => TOP + share * (HEIGHT - TOP - BOTTOM);

  // What does not change with a brush is painted once, below.
  useEffect(() => {
    const ctx = prepared(under.current, full, HEIGHT);
    if (!ctx || !width) return;
    ctx.globalAlpha = lines.length > 800 ? 0.15 : 0.35;
    ctx.strokeStyle = css("line");
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const line of some(lines)) trace(ctx, line, x, y);
    ctx.stroke();
  }, [lines, full, width > 0, scheme]);

  useEffect(() => {
    const ctx = prepared(over.current, full, HEIGHT);
    if (!ctx || !width) return;
    const buckets: Line[][] = Array.from({ length: BUCKETS }, () => []);
    for (const line of some(chosen, dragging ? MOST_MOVING : MOST_LINES)) buckets[Math.min(BUCKETS - 1, Math.floor(line.share * BUCKETS))]?.push(line);
    ctx.globalAlpha = chosen.length > 800 ? 0.35 : 0.75;
    ctx.lineWidth = 1.2;
    buckets.forEach((bucket, i) => {
      if (!bucket.length) return;
      const fast = i / (BUCKETS - 1);
      ctx.strokeStyle = scheme === "dark" ? ramp(0.1 + 0.9 * fast, "dark") : ramp(0.92 * (1 - fast), "light");
      ctx.beginPath();
      for (const line of bucket) trace(ctx, line, x, y);
      ctx.stroke();
    });
    ctx.globalAlpha = 1;
    paintAxes(ctx, axes, names, scale, brushes, x, y);
  }, [chosen, full, width > 0, scheme, brushes, dragging]);

  // Dragging along an axis makes a brush; a click without dragging takes it away.
  const drag = useRef<{ axis: number; from: number } | null>(null);
  const frame = useRef(0);
  const wanted = useRef<[string, Brush] | null>(null);
  function share(event: PointerEvent) { return Math.max(0, Math.min(1, (event.offsetY - TOP) / (HEIGHT - TOP - BOTTOM))); }
  function down(event: PointerEvent) {
    const axis = names.findIndex((_, i) => Math.abs(x(i) - event.offsetX) < 24);
    if (axis < 0) return;
    drag.current = { axis, from: share(event) };
    setDragging(true);
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  }
  function move(event: PointerEvent) {
    if (!drag.current) return;
    const { axis, from } = drag.current;
    const to = share(event);
    const name = names[axis];
    if (name === undefined || Math.abs(to - from) < 0.015) return;
    wanted.current = [name, [Math.min(from, to), Math.max(from, to)]];
    if (!frame.current) frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      const next = wanted.current;
      if (next) setBrushes((old) => new Map(old).set(next[0], next[1]));
    });
  }
  function up(event: PointerEvent) {
    const begun = drag.current;
    drag.current = null;
    setDragging(false);
    if (!begun) return;
    const name = names[begun.axis];
    if (name !== undefined && Math.abs(share(event) - begun.from) < 0.015) set(name, null);
  }
  function set(name: string, brush: Brush | null) {
    setBrushes((old) => {
      const next = new Map(old);
      if (brush) next.set(name, brush); else next.delete(name);
      return next;
    });
  }

  const count = useMemo(() => chosen.reduce((sum, line) => sum + line.rows.length, 0), [chosen]);
  // Lines are sorted by their time, the fastest last.
  const fastest = useMemo(() => chosen.slice(-8).flatMap((line) => line.rows).sort((a, b) => (a.value ?? 0) - (b.value ?? 0)).slice(0, 8), [chosen]);
  if (axes.length === 0 || rows.length === 0) return <p class="quiet">Nothing to show yet: trials with different values have to complete first.</p>;
  return (
    <>
      <p class="quiet small-text">Drag along an axis to choose; click it to choose all again. Completed trials only; the faster, the stronger the colour.{chosen.length > MOST_LINES && ` Of ${chosen.length} different lines ${MOST_LINES} are drawn.`}</p>
      <div class="scroll" ref={attach} tabIndex={0} role="region" aria-label="Parallel coordinates">
        <div class="layers" style={{ width: `${full}px`, height: `${HEIGHT}px` }}>
          <canvas ref={under} aria-hidden="true" style={{ width: `${full}px`, height: `${HEIGHT}px` }} />
          <canvas ref={over} class="brushed" role="img" style={{ width: `${full}px`, height: `${HEIGHT}px` }}
            aria-label={`${plural(count, "trial")} of ${rows.length} chosen over ${plural(axes.length, "parameter")}`}
            onPointerDown={down} onPointerMove={move} onPointerUp={up} />
        </div>
      </div>
      <div class="axis-filters">
        {axes.map((axis) => {
          const brush = brushes.get(axis.name);
          const exact = brush && brush[0] === brush[1] ? String(Math.round(brush[0] * (axis.values.length - 1))) : "";
          return (
            <label key={axis.name}>{short(axis.name)} <select aria-label={short(axis.name)} value={exact} onChange={(event) => {
              const text = event.currentTarget.value;
              const place = Number(text) / (axis.values.length - 1);
              set(axis.name, text === "" ? null : [place, place]);
            }}>
              <option value="">{brush && !exact ? "brushed" : "any"}</option>
              {axis.values.map((value, i) => <option key={i} value={String(i)}>{value === null ? "does not count" : String(value)}</option>)}
            </select></label>
          );
        })}
        {brushes.size > 0 && <button type="button" class="small" onClick={() => setBrushes(new Map())}>Choose all</button>}
      </div>
      <p role="status">{plural(count, "trial")} chosen{fastest[0] ? `, the fastest ${duration(fastest[0].value)}` : ""}. {fastest.map((row) => (
        <button key={row.number} type="button" class="link" onClick={() => pick(row.number)}>trial {row.number} ({duration(row.value)})</button>
      ))}</p>
    </>
  );
}

/** Of many lines the slowest and the fastest, and some of those between, evenly. */
function some(lines: Line[], most = MOST_LINES): Line[] {
  if (lines.length <= most) return lines;
  const step = (lines.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, i) => lines[Math.round(i * step)] as Line);
}

function minmax(values: number[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  return [low, high];
}

function prepared(canvas: HTMLCanvasElement | null, width: number, height: number): CanvasRenderingContext2D | null {
  if (!canvas) return null;
  const ratio = devicePixelRatio;
  canvas.width = Math.floor(width * ratio);
  canvas.height = Math.floor(height * ratio);
  const ctx = canvas.getContext("2d");
  ctx?.scale(ratio, ratio);
  return ctx;
}

function trace(ctx: CanvasRenderingContext2D, line: Line, x: (i: number) => number, y: (share: number) => number) {
  line.ys.forEach((share, i) => (i ? ctx.lineTo(x(i), y(share)) : ctx.moveTo(x(i), y(share))));
}

function paintAxes(
  ctx: CanvasRenderingContext2D, axes: Axis[], names: string[], scale: { low: number; high: number },
  brushes: ReadonlyMap<string, Brush>, x: (i: number) => number, y: (share: number) => number,
) {
  ctx.lineWidth = 1;
  names.forEach((name, i) => {
    ctx.strokeStyle = css("ink-2");
    ctx.beginPath();
    ctx.moveTo(x(i), y(0));
    ctx.lineTo(x(i), y(1));
    ctx.stroke();
    const brush = brushes.get(name);
    if (brush) {
      ctx.fillStyle = css("accent");
      ctx.globalAlpha = 0.3;
      ctx.fillRect(x(i) - 7, y(brush[0]) - 3, 14, y(brush[1]) - y(brush[0]) + 6);
      ctx.globalAlpha = 1;
    }
    ctx.fillStyle = css("ink");
    ctx.textAlign = "center";
    ctx.font = "600 12px system-ui, sans-serif";
    ctx.fillText(short(name), x(i), 14);
    ctx.font = "11px system-ui, sans-serif";
    const axis = axes[i];
    const marks: [string, number][] = axis
      ? axis.values.map((value, k) => [value === null ? "·" : String(value), k / (axis.values.length - 1)])
      : [[duration(Math.exp(scale.high)), 0], [duration(Math.exp(scale.low)), 1]];
    let last = -Infinity;
    for (const [text, share] of marks) {
      if (y(share) - last < 13) continue;
      last = y(share);
      const cut = text.length > 14 ? `${text.slice(0, 13)}…` : text;
      const wide = ctx.measureText(cut).width;
      ctx.textAlign = "left";
      ctx.globalAlpha = 0.72;
      ctx.fillStyle = css("panel");
      ctx.fillRect(x(i) + 4, y(share) - 7, wide + 4, 13);
      ctx.globalAlpha = 1;
      ctx.fillStyle = css("ink-2");
      ctx.fillText(cut, x(i) + 6, y(share) + 4);
    }
  });
}
