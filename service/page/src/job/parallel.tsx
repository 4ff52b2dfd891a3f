// Parallel coordinates: an axis for each parameter, a line for each trial, the time at the end.
// Trials that differ in nothing but their number are one line; brushes choose by dragging along
// an axis, the fields below the same without a mouse.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Cell } from "../charts/csv.ts";
import { fitted } from "../charts/fitted.ts";
import type { Figure } from "../charts/figure.ts";
import type { Pen } from "../charts/pen.ts";
import { css, ramp } from "../lib/colours.ts";
import { duration, plural, short } from "../lib/format.ts";
import { useScheme, useWidth } from "../lib/hooks.ts";
import { bundleOf, lineNear, type Axis, type Bundle } from "../lib/lines.ts";
import { isSample, type Convergence } from "../lib/table.ts";
import { Saving } from "../ui/saving.tsx";
import { said, TrialTip, type Told } from "./tip.tsx";

const NEAR = 10; // pixels from the mouse to the line that it tells
const HEIGHT = 340;
const TOP = 34;
const BOTTOM = 14;
const TITLE = 20; // the height of a title, above its axis
const LEFT = 46;
const RIGHT = 72; // where the last axis has its marks
const APART = 74; // pixels from one axis to the next, at least
const MARK = 96; // how wide a mark may be
const GAP = 6; // between what two axes have beside one another
const TIME = "simulated time";
const BUCKETS = 24;
const MOST_LINES = 1000; // more are a blot
const MOST_MOVING = 200; // while a brush is dragged, so that painting keeps up with the hand
const SLICE = 60; // lines painted in one frame: more of them are felt on a slow machine
const MOST_LISTED = 40; // values of an axis that a list to choose from shows

type Brush = readonly [number, number];
type Brushes = ReadonlyMap<string, Brush>;

export function Parallel({ name, convergence, pick }: { name: string; convergence: Convergence; pick: (number: number) => void }) {
  const [attach, width] = useWidth<HTMLDivElement>();
  const under = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const top = useRef<HTMLCanvasElement>(null);
  const [brushes, setBrushes] = useState<Brushes>(new Map());
  const [dragging, setDragging] = useState(false);
  const [looked, setLooked] = useState<Looked | null>(null);
  const highlight = useRef<HTMLCanvasElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const scheme = useScheme();
  const bundle = useMemo(() => bundleOf(convergence), [convergence]);
  const { axes, trials } = bundle;
  const names = useMemo(() => [...axes.map((axis) => axis.name), TIME], [axes]);
  const chosen = useMemo(() => within(bundle, names, brushes), [bundle, names, brushes]);

  const full = Math.max(width, (names.length - 1) * APART + LEFT + RIGHT);
  const x = (i: number) => LEFT + (i / Math.max(1, names.length - 1)) * (full - LEFT - RIGHT);
  const y = (share: number) => TOP + share * (HEIGHT - TOP - BOTTOM);

  // What does not change with a brush is painted once, below and above.
  useEffect(() => {
    const ctx = prepared(under.current, full, HEIGHT);
    if (!ctx || !width) return;
    ctx.globalAlpha = bundle.count > 800 ? 0.15 : 0.35;
    ctx.strokeStyle = css("line");
    ctx.lineWidth = 1 / devicePixelRatio;
    return inSlices(some(bundle.all, MOST_LINES), (line) => trace(ctx, bundle, line, x, y));
  }, [bundle, full, width > 0, scheme]);
  useEffect(() => {
    const ctx = prepared(top.current, full, HEIGHT);
    if (ctx && width) paintAxes(ctx, axes, names, bundle, x, y);
  }, [bundle, full, width > 0, scheme]);

  useEffect(() => {
    const ctx = prepared(over.current, full, HEIGHT);
    if (!ctx || !width) return;
    const colours = coloursOf(scheme);
    ctx.globalAlpha = chosen.length > 800 ? 0.4 : 0.8;
    // As wide as one pixel, which is painted several times as fast as anything wider.
    ctx.lineWidth = 1 / devicePixelRatio;
    return inSlices(some(chosen, dragging ? MOST_MOVING : MOST_LINES), (line) => {
      ctx.strokeStyle = colours[bucket(bundle, line)] ?? "";
      trace(ctx, bundle, line, x, y);
    });
  }, [bundle, chosen, full, width > 0, scheme, dragging]);

  useEffect(() => setLooked(null), [full]); // everything is elsewhere
  // One line over all others, which are not painted anew for it.
  const line = looked && chosen.includes(looked.line) ? looked.line : null;
  useEffect(() => {
    const ctx = prepared(highlight.current, full, HEIGHT);
    if (!ctx || line === null) return;
    ctx.strokeStyle = css("ink");
    ctx.lineWidth = 2.5;
    trace(ctx, bundle, line, x, y);
  }, [bundle, line, full, scheme]);
  function near(event: MouseEvent): Looked | null {
    const found = lineNear(bundle, chosen, ((event.offsetX - LEFT) / (full - LEFT - RIGHT)) * (names.length - 1), (event.offsetY - TOP) / (HEIGHT - TOP - BOTTOM), NEAR / (HEIGHT - TOP - BOTTOM));
    return found === null ? null : { line: found, left: event.offsetX, top: event.offsetY };
  }
  const look = useRef(0);
  function hover(event: PointerEvent) {
    cancelAnimationFrame(look.current);
    if (event.pointerType !== "touch" && !event.buttons) look.current = requestAnimationFrame(() => setLooked(near(event)));
  }
  function leave() {
    cancelAnimationFrame(look.current);
    setLooked(null);
  }
  function opened(shown: number | null) {
    const row = shown === null ? undefined : bundle.rows[shown]?.[0];
    if (row) pick(row.number);
  }
  function key(event: KeyboardEvent) {
    // From the slowest to the fastest.
    const place = line === null ? -1 : chosen.indexOf(line);
    const last = chosen.length - 1;
    const places: Record<string, number> = { ArrowUp: place < 0 ? last : place + 1, ArrowDown: place < 0 ? last : place - 1, Home: last, End: 0 };
    const next = places[event.key];
    if (next !== undefined && last >= 0) {
      const shown = chosen[Math.max(0, Math.min(last, next))] as number;
      setLooked({ line: shown, left: x(names.length - 1), top: y(bundle.ys[(shown + 1) * names.length - 1] ?? 0) });
    } else if (event.key === "Enter" && line !== null) opened(line);
    else if (event.key === "Escape") setLooked(null);
    else return;
    event.preventDefault();
  }

  // Dragging along an axis makes a brush; a click without dragging takes it away.
  const drag = useRef<{ axis: number; from: number } | null>(null);
  const frame = useRef(0);
  const wanted = useRef<[string, Brush] | null>(null);
  function share(event: PointerEvent) { return Math.max(0, Math.min(1, (event.offsetY - TOP) / (HEIGHT - TOP - BOTTOM))); }
  function down(event: PointerEvent) {
    const axis = names.findIndex((_, i) => Math.abs(x(i) - event.offsetX) < 24);
    if (axis < 0) { if (event.pointerType !== "touch") opened(near(event)?.line ?? null); return; }
    setLooked(null);
    drag.current = { axis, from: share(event) };
    setDragging(true);
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  }
  function move(event: PointerEvent) {
    if (!drag.current) { hover(event); return; }
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

  const count = useMemo(() => chosen.reduce((sum, line) => sum + (bundle.rows[line]?.length ?? 0), 0), [bundle, chosen]);
  // Lines are sorted by their time, the fastest last.
  const fastest = useMemo(() => [...chosen.slice(-8)].flatMap((line) => bundle.rows[line] ?? []).sort((a, b) => (a.value ?? 0) - (b.value ?? 0)).slice(0, 8), [bundle, chosen]);
  const fields = useMemo(() => <Fields axes={axes} brushes={brushes} set={set} clear={() => setBrushes(new Map())} />, [axes, dragging ? null : brushes]);
  if (axes.length === 0 || trials === 0) return <p class="quiet">Nothing to show yet: trials with different values have to complete first.</p>;
  const figure = (): Figure => ({
    title: `${name}: parameters and simulated time`, width: full, height: HEIGHT,
    note: `${plural(count, "trial")} of ${trials}${isSample(convergence) ? " of a sample" : ""}${chosen.length > MOST_LINES ? `, of ${chosen.length} different lines ${MOST_LINES}` : ""}; the faster, the darker`,
    paint: (pen) => {
      const colours = coloursOf("light");
      pen.globalAlpha = 0.8;
      pen.lineWidth = 1;
      for (const line of some(chosen, MOST_LINES)) {
        pen.strokeStyle = colours[bucket(bundle, line)] ?? "";
        trace(pen, bundle, line, x, y);
      }
      pen.globalAlpha = 1;
      paintAxes(pen, axes, names, bundle, x, y);
    },
  });
  const table = (): Cell[][] => [["trial", ...axes.map((axis) => axis.name), "seconds"],
    ...[...chosen].flatMap((line) => bundle.rows[line] ?? []).map((row) => [row.number, ...axes.map((axis) => row.parameters.get(axis.name)), row.value])];
  const told = line === null ? null : toldOf(bundle, line);
  const layer = { width: `${full}px`, height: `${HEIGHT}px` };
  return (
    <>
      <p class="quiet small-text">Drag along an axis to choose trials; click it to choose all again. Point at a line to see its trial and click to open it, or use the arrow keys and Enter. Shown are completed trials of the search space; the faster, the stronger the colour.{full > width && " Scroll sideways for all axes."}{chosen.length > MOST_LINES && ` ${MOST_LINES} of ${chosen.length} different lines are drawn.`}</p>
      <div class="chart">
      <div class="scroll" ref={attach} tabIndex={0} role="application" onKeyDown={key} onBlur={leave} onScroll={(event) => setScrolled(event.currentTarget.scrollLeft)}
        aria-label="Parallel coordinates. Up and down arrow keys walk along the chosen trials from the fastest, Enter opens one.">
        <div class="layers" style={layer}>
          <canvas ref={under} aria-hidden="true" style={layer} />
          <canvas ref={over} aria-hidden="true" style={layer} />
          {names.map((name, i) => {
            const brush = brushes.get(name);
            return brush && <span key={name} class="brush" style={{ left: `${x(i) - 7}px`, top: `${y(brush[0]) - 3}px`, height: `${y(brush[1]) - y(brush[0]) + 6}px` }} />;
          })}
          <canvas ref={highlight} aria-hidden="true" style={layer} />
          <canvas ref={top} class="brushed" role="img" style={layer}
            aria-label={`${plural(count, "trial")} of ${trials} chosen over ${plural(axes.length, "parameter")}`}
            onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerLeave={leave} />
          {names.map((name, i) => {
            const room = titleRoom(x, i, names.length - 1);
            return <span key={name} class="axis-title" title={name} aria-hidden="true" style={{ left: `${x(i) - room / 2}px`, width: `${room}px`, height: `${TITLE}px` }} />;
          })}
        </div>
      </div>
      {told && looked && <TrialTip row={told} best={convergence.best?.value ?? null} left={looked.left - scrolled} top={looked.top} />}
      </div>
      <p class="visually-hidden" role="status">{told ? said(told) : ""}</p>
      {fields}
      <Saving name={`${convergence.job_id}-parameters`} figure={figure} table={table} />
      <p role="status">{plural(count, "trial")} {isSample(convergence) ? "of the sample " : ""}chosen{fastest[0] ? `, the fastest ${duration(fastest[0].value)}` : ""}. {fastest.map((row) => (
        <button key={row.number} type="button" class="link" onClick={() => pick(row.number)}>trial {row.number} ({duration(row.value)})</button>
      ))}</p>
    </>
  );
}

/** A line that is looked at, and where in the picture. */
interface Looked { line: number; left: number; top: number }

function toldOf(bundle: Bundle, line: number): Told | null {
  const rows = bundle.rows[line] ?? [];
  return rows[0] ? { ...rows[0], alike: rows.length - 1 } : null;
}

/** What brushes do, without a mouse: a value, or where there are many, the first and the last. */
function Fields({ axes, brushes, set, clear }: {
  axes: Axis[]; brushes: Brushes; set: (name: string, brush: Brush | null) => void; clear: () => void;
}) {
  return (
    <div class="axis-filters">
      {axes.map((axis) => {
        const last = axis.values.length - 1;
        const brush = brushes.get(axis.name);
        const name = short(axis.name);
        if (last >= MOST_LISTED) return <Ends key={axis.name} name={name} axis={axis} brush={brush} set={(wanted) => set(axis.name, wanted)} />;
        const exact = brush && brush[0] === brush[1] ? String(Math.round(brush[0] * last)) : "";
        return (
          <label key={axis.name}>{name} <select aria-label={name} value={exact} onChange={(event) => {
            const text = event.currentTarget.value;
            set(axis.name, text === "" ? null : [Number(text) / last, Number(text) / last]);
          }}>
            <option value="">{brush && !exact ? "brushed" : "any"}</option>
            {axis.values.map((value, i) => <option key={i} value={String(i)}>{value === null ? "not used" : String(value)}</option>)}
          </select></label>
        );
      })}
      {brushes.size > 0 && <button type="button" class="small" onClick={clear}>Choose all</button>}
    </div>
  );
}

/** Too many values for a list: from one place on the axis to another, told by the values there. */
function Ends({ name, axis, brush, set }: { name: string; axis: Axis; brush: Brush | undefined; set: (brush: Brush | null) => void }) {
  const last = axis.values.length - 1;
  const [low, high] = brush ? [Math.ceil(brush[0] * last - 1e-6), Math.floor(brush[1] * last + 1e-6)] : [0, last];
  const choose = (from: number, to: number) => set(from <= 0 && to >= last ? null : [Math.min(from, to) / last, Math.max(from, to) / last]);
  const said = (place: number) => String(axis.values[Math.max(0, Math.min(last, place))] ?? "not used");
  return (
    <span class="ends" role="group" aria-label={name}>
      {name} from <input type="range" min={0} max={last} value={low} aria-label={`${name} from`} aria-valuetext={said(low)} onInput={(event) => choose(Number(event.currentTarget.value), high)} />
      {" "}to <input type="range" min={0} max={last} value={high} aria-label={`${name} to`} aria-valuetext={said(high)} onInput={(event) => choose(low, Number(event.currentTarget.value))} />
    </span>
  );
}

function coloursOf(scheme: string): string[] {
  return Array.from({ length: BUCKETS }, (_, i) => {
    const fast = i / (BUCKETS - 1);
    return scheme === "dark" ? ramp(0.1 + 0.9 * fast, "dark") : ramp(0.92 * (1 - fast), "light");
  });
}

function bucket(bundle: Bundle, line: number): number {
  return Math.min(BUCKETS - 1, Math.floor((bundle.shares[line] ?? 0) * BUCKETS));
}

/** The lines that go through all brushes. */
function within(bundle: Bundle, names: string[], brushes: Brushes): Int32Array {
  if (!brushes.size) return bundle.all;
  const width = names.length;
  const wanted = [...brushes].map(([name, [low, high]]) => [names.indexOf(name), low - 1e-6, high + 1e-6] as const).filter(([axis]) => axis >= 0);
  return bundle.all.filter((line) => wanted.every(([axis, low, high]) => {
    const at = bundle.ys[line * width + axis] ?? 0;
    return at >= low && at <= high;
  }));
}

/** Of many lines the slowest and the fastest, and some of those between, evenly. */
function some(lines: Int32Array, most: number): Int32Array {
  if (lines.length <= most) return lines;
  const step = (lines.length - 1) / (most - 1);
  return Int32Array.from({ length: most }, (_, i) => lines[Math.round(i * step)] ?? 0);
}

/** Paint some lines now and some in each frame that follows; returns what stops that. */
function inSlices(lines: Int32Array, paint: (line: number) => void): () => void {
  let next = 0;
  let frame = 0;
  const go = () => {
    const end = Math.min(lines.length, next + SLICE);
    for (; next < end; next += 1) paint(lines[next] ?? 0);
    frame = next < lines.length ? requestAnimationFrame(go) : 0;
  };
  go();
  return () => cancelAnimationFrame(frame);
}

/** A canvas as large as wanted, empty; making it anew would cost its memory each time. */
function prepared(canvas: HTMLCanvasElement | null, width: number, height: number): CanvasRenderingContext2D | null {
  const ctx = canvas?.getContext("2d") ?? null;
  if (!canvas || !ctx) return null;
  const ratio = devicePixelRatio;
  const [wide, high] = [Math.floor(width * ratio), Math.floor(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.globalAlpha = 1;
  ctx.clearRect(0, 0, width, height);
  return ctx;
}

function trace(ctx: Pen, bundle: Bundle, line: number, x: (i: number) => number, y: (share: number) => number): void {
  const width = bundle.axes.length + 1;
  ctx.beginPath();
  for (let i = 0; i < width; i += 1) ctx.lineTo(x(i), y(bundle.ys[line * width + i] ?? 0));
  ctx.stroke();
}

/** How wide the title of an axis may be: it lies over its middle, and the first and the last end at the picture's edge. */
function titleRoom(x: (i: number) => number, i: number, last: number): number {
  const edge = i === 0 ? LEFT : i === last ? RIGHT : Infinity;
  return Math.min(x(1) - x(0) - GAP, 2 * edge);
}

function paintAxes(
  ctx: Pen, axes: Axis[], names: string[], scale: { low: number; high: number },
  x: (i: number) => number, y: (share: number) => number,
) {
  ctx.lineWidth = 1;
  names.forEach((name, i) => {
    ctx.strokeStyle = css("ink-2");
    ctx.beginPath();
    ctx.moveTo(x(i), y(0));
    ctx.lineTo(x(i), y(1));
    ctx.stroke();
    ctx.fillStyle = css("ink");
    ctx.textAlign = "center";
    ctx.font = "600 12px system-ui, sans-serif";
    ctx.fillText(fitted(ctx, short(name), titleRoom(x, i, names.length - 1)), x(i), 14);
    ctx.font = "11px system-ui, sans-serif";
    const axis = axes[i];
    const last = axis ? axis.values.length - 1 : 1;
    const mark = (k: number) => (axis ? String(axis.values[k] ?? "·") : duration(Math.exp(k ? scale.low : scale.high)));
    // Marks 13 pixels apart at least.
    const step = Math.max(1, Math.ceil((13 * last) / (y(1) - y(0))));
    for (let k = 0; k <= last; k += step) {
      const text = mark(k);
      const cut = fitted(ctx, text, axis ? Math.min(MARK, x(1) - x(0) - 6 - GAP) : RIGHT - 6);
      const at = y(k / last);
      const wide = ctx.measureText(cut).width;
      ctx.textAlign = "left";
      ctx.globalAlpha = 0.9;
      ctx.fillStyle = css("panel");
      ctx.fillRect(x(i) + 4, at - 7, wide + 4, 13);
      ctx.globalAlpha = 1;
      ctx.fillStyle = css("ink-2");
      ctx.fillText(cut, x(i) + 6, at + 4);
    }
  });
}
