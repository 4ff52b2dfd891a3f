// A picture for each parameter: the times of the trials over its values.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Pen } from "../charts/pen.ts";
import { css } from "../lib/colours.ts";
import { duration, plural } from "../lib/format.ts";
import { useScheme, useWidth } from "../lib/hooks.ts";
import { compared } from "../lib/table.ts";
import type { Convergence, Row } from "../lib/table.ts";
import type { Scalar, Statistics } from "../lib/types.ts";
import { InView } from "../ui/inview.tsx";
import { Saving } from "../ui/saving.tsx";
import { TrialTip } from "./tip.tsx";

const HEIGHT = 170;
const FOOT = 34;
const LEFT = 58;

const MOST_LISTED = 50; // values of a parameter, the fastest first

type Counted = Statistics["parameters"][number];

interface Slice { name: string; values: Scalar[]; groups: Row[][]; least: Row[]; low: number; high: number }

export function Slices({ name, convergence, statistics, pick }: {
  /** Of the job. */
  name: string;
  convergence: Convergence; statistics: Statistics | null; pick: (number: number) => void;
}) {
  const rows = useMemo(() => compared(convergence.rows), [convergence]);
  const slices = useMemo<Slice[]>(() => convergence.names.flatMap((name) => {
    const groups = new Map<Scalar, Row[]>();
    for (const row of rows) {
      const value = row.parameters.get(name);
      if (value === undefined) continue;
      const group = groups.get(value);
      if (group) group.push(row);
      else groups.set(value, [row]);
    }
    if (groups.size < 2) return [];
    const numeric = [...groups.keys()].every((value) => typeof value === "number");
    const sorted = [...groups].map(([value, group]) => ({ value, group, least: fastest(group) }))
      .sort((a, b) => (numeric ? Number(a.value) - Number(b.value) : time(a.least) - time(b.least)));
    return [{
      name, values: sorted.map((one) => one.value), groups: sorted.map((one) => one.group), least: sorted.map((one) => one.least),
      low: sorted.reduce((a, one) => Math.min(a, time(one.least)), Infinity),
      high: rows.reduce((a, row) => (row.parameters.has(name) ? Math.max(a, time(row)) : a), -Infinity),
    }];
  }), [rows, convergence.names]);
  if (!slices.length) return <p class="quiet">No parameter has two values among the completed trials yet.</p>;
  return (
    <>
      <p class="quiet small-text">Each dot is a completed trial of the search space; bars mark the fastest of each value. Numbers are in order, other values by their fastest trial.</p>
      <div class="grid-3">{slices.map((slice) => (
        <figure key={slice.name}>
          <figcaption>{slice.name}</figcaption>
          <InView height={HEIGHT + 34}><One job={convergence.job_id} title={`${name}: simulated time by ${slice.name}`} best={convergence.best?.value ?? null} slice={slice} counted={statistics?.parameters.find((one) => one.name === slice.name)} pick={pick} /></InView>
        </figure>
      ))}</div>
    </>
  );
}

function time(row: Row): number {
  return row.value ?? Infinity;
}

function fastest(group: Row[]): Row {
  return group.reduce((a, b) => (time(a) <= time(b) ? a : b));
}

interface Hovered { row: Row; left: number; top: number }

function One({ job, title, best: least, slice, counted, pick }: { job: string; title: string; best: number | null; slice: Slice; counted: Counted | undefined; pick: (number: number) => void }) {
  const [attach, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useScheme();
  const [open, setOpen] = useState(false);
  const [hover, setHover] = useState<Hovered | null>(null);
  const { high } = slice;
  const low = Math.min(slice.low, ...(counted?.values.map((one) => one.seconds) ?? []));
  const dots = useMemo(() => slice.groups.reduce((sum, group) => sum + group.length, 0), [slice]);
  const y = (value: number) => 8 + (high > low ? (Math.log(high) - Math.log(value)) / (Math.log(high) - Math.log(low)) : 0.5) * (HEIGHT - FOOT - 16);
  const step = (width - LEFT - 6) / slice.values.length;
  // The number of a trial spreads the dots of one value, always in the same way.
  const x = (i: number, row: Row) => LEFT + step * (i + 0.5 + (((row.number * 0.618034) % 1) - 0.5) * 0.6);
  function paint(ctx: Pen): void {
    ctx.strokeStyle = css("line");
    ctx.strokeRect(LEFT - 0.5, 0.5, width - LEFT - 1, HEIGHT - FOOT);
    ctx.fillStyle = css("accent");
    ctx.globalAlpha = dots > 500 ? 0.35 : 0.7;
    slice.groups.forEach((group, i) => group.forEach((row) => ctx.fillRect(x(i, row) - 2, y(row.value as number) - 2, 4, 4)));
    ctx.globalAlpha = 1;
    ctx.font = "11px system-ui, sans-serif";
    ctx.fillStyle = css("ink");
    const ofAll = new Map(counted?.values.map((one) => [one.value, one.seconds]));
    slice.least.forEach((row, i) => ctx.fillRect(LEFT + step * i + step * 0.15, y(Math.min(time(row), ofAll.get(slice.values[i] ?? "") ?? Infinity)) - 1, step * 0.7, 2));
    ctx.fillStyle = css("ink-2");
    ctx.textAlign = "right";
    ctx.fillText(duration(high), LEFT - 5, 14);
    ctx.fillText(duration(low), LEFT - 5, HEIGHT - FOOT - 4);
    ctx.textAlign = "center";
    const room = Math.max(1, Math.ceil(46 / step));
    slice.values.forEach((value, i) => {
      if (i % room) return;
      const text = String(value);
      // As wide as its place, and not beyond the edge.
      const free = Math.min(step * room, 2 * (width - LEFT - step * (i + 0.5)) - 4);
      const most = Math.max(4, Math.floor(free / 6.8));
      ctx.fillText(text.length > most ? `${text.slice(0, most - 1)}…` : text, LEFT + step * (i + 0.5), HEIGHT - FOOT + 15);
    });
  }
  useEffect(() => {
    const element = canvas.current;
    if (!element || !width) return;
    element.width = width * devicePixelRatio;
    element.height = HEIGHT * devicePixelRatio;
    const ctx = element.getContext("2d");
    if (!ctx) return;
    ctx.scale(devicePixelRatio, devicePixelRatio);
    paint(ctx);
  }, [slice, counted, width, scheme]);
  function under(event: MouseEvent): Hovered | null {
    let found: Hovered | null = null;
    let nearest = 10 ** 2;
    slice.groups.forEach((group, i) => group.forEach((row) => {
      const [left, top] = [x(i, row), y(row.value as number)];
      const distance = (left - event.offsetX) ** 2 + (top - event.offsetY) ** 2;
      if (distance < nearest) { nearest = distance; found = { row, left, top }; }
    }));
    return found;
  }
  // Permutations are not counted: hardly two trials have one in common.
  const best = counted?.values ?? slice.least.map((row, i) => ({ value: slice.values[i] ?? "", trials: slice.groups[i]?.length ?? 0, trial: row.number, seconds: time(row) }))
    .sort((a, b) => a.seconds - b.seconds).slice(0, MOST_LISTED);
  return (
    <>
      <div ref={attach} class="chart">
        <canvas ref={canvas} style={{ width: `${width}px`, height: `${HEIGHT}px` }} role="img"
          aria-label={`${slice.name}: ${best.slice(0, 6).map(({ value, seconds }) => `${String(value)} at best ${duration(seconds)}`).join(", ")}`}
          onMouseMove={(event) => setHover(under(event))} onMouseLeave={() => setHover(null)}
          onClick={(event) => { const row = under(event)?.row; if (row) pick(row.number); }} />
        {hover && <TrialTip row={hover.row} best={least} left={hover.left} top={hover.top} />}
      </div>
      <details class="more small-text" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Fastest of each value</summary>
        {open && <ul>{best.map(({ value, trials, trial, seconds }) => <li key={String(value)}>{String(value)}: <button type="button" class="link" onClick={() => pick(trial)}>{duration(seconds)}</button> <span class="quiet">of {plural(trials, "trial")}</span></li>)}</ul>}
        {open && <Saving name={`${job}-${slice.name}`} figure={() => ({ title, width, height: HEIGHT, paint })}
          table={() => [[slice.name, "trial", "seconds"], ...slice.groups.flatMap((group, i) => group.map((row) => [slice.values[i], row.number, row.value]))]} />}
        {open && best.length < (counted?.different ?? slice.values.length) && <p class="quiet">The fastest {best.length} of {counted?.different ?? slice.values.length} values.</p>}
      </details>
    </>
  );
}
