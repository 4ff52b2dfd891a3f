// The convergence of a job: best so far as a line, every trial as a mark, baselines across.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { axis, timeAxis, xAxis, type XAxis } from "../charts/axes.ts";
import { Plot } from "../charts/plot.tsx";
import { csvOf, pictureOf, type Cell } from "../charts/saving.ts";
import { save } from "../lib/api.ts";
import { colourOf, css } from "../lib/colours.ts";
import { clock, duration, gain, plural } from "../lib/format.ts";
import { useScheme, useStored } from "../lib/hooks.ts";
import { judged } from "../lib/table.ts";
import type { Convergence, Row } from "../lib/table.ts";
import type { Statistics, TrialState } from "../lib/types.ts";
import { Choice } from "../ui/choice.tsx";
import { Action } from "../ui/parts.tsx";
import { paintBaselines, paintMark, paintTrials, placesOf, techniquesOf, type Baseline } from "./paint.ts";

const AXES = [["trial", "trial"], ["wall", "wall clock"], ["cpu", "simulator CPU"]] as const;
const SCALES = [["linear", "linear"], ["log", "log"]] as const;

function along(kind: XAxis): (row: Row) => number {
  if (kind === "wall") return (row) => row.wall;
  if (kind === "cpu") return (row) => row.cpu;
  return (row) => row.number;
}

export function ConvergenceChart({ convergence, statistics, pick, picked }: {
  convergence: Convergence;
  /** Of all trials, where the convergence has a sample of them. */
  statistics: Statistics | null;
  pick: (number: number) => void; picked: number | null;
}) {
  const [kind, setKind] = useStored<XAxis>("hamtune-axis", "trial");
  const [scale, setScale] = useStored<"linear" | "log">("hamtune-scale", "linear");
  const [open, setOpen] = useState(false);
  const [marked, setMarked] = useState<number | null>(null);
  const plot = useRef<uPlot | null>(null);
  const zoomed = useRef(false);
  const scheme = useScheme();
  const x = along(kind);
  const rows = useMemo(() => judged(convergence.rows), [convergence]);
  const baselines = useMemo<Baseline[]>(
    () => Object.entries(convergence.baselines).map(([label, value]) => ({ label, value, gain: convergence.gains[label] ?? null })),
    [convergence],
  );
  const techniques = useMemo(() => techniquesOf(rows), [rows]);
  // What the hooks of the chart paint: they are made once, and look here each time.
  const shown = useRef({ rows, x, baselines, techniques, mark: null as Row | null, places: new Float32Array() as Float32Array });
  const overlay = useRef<(at: Hovered | null) => void>(() => undefined);
  const mark = rows.find((row) => row.number === (marked ?? picked)) ?? null;
  shown.current = { ...shown.current, rows, x, baselines, techniques, mark };
  const data = useMemo<uPlot.AlignedData>(
    () => [rows.map(x), rows.map((row) => row.best ?? null)],
    [rows, kind],
  );

  function options(colours: string): Omit<uPlot.Options, "width" | "height"> {
    return {
      scales: {
        x: { time: false },
        y: { distr: scale === "log" ? 3 : 1, range: (u) => bounds(u, shown.current.rows, shown.current.baselines, x, scale === "log") },
      },
      legend: { show: false },
      cursor: { points: { show: false }, drag: { x: true, y: false }, y: false },
      axes: [xAxis(kind), timeAxis("simulated time", scale === "log")],
      series: [
        {},
        {
          stroke: () => css("accent"),
          width: 2.2,
          points: { show: false },
          spanGaps: true,
          paths: uPlot.paths.stepped?.({ align: 1 }) ?? uPlot.paths.linear!(),
        },
      ],
      hooks: {
        drawAxes: [(u) => paintBaselines(u, shown.current.baselines)],
        draw: [(u) => {
          shown.current.places = placesOf(u, shown.current.rows, shown.current.x);
          paintTrials(u, shown.current.rows, shown.current.places, shown.current.techniques, colours);
          paintMark(u, shown.current.mark, shown.current.x);
        }],
        setSelect: [(u) => { zoomed.current = u.select.width > 4; }],
        ready: [(u) => {
          // One look in a frame is enough, however often the mouse tells where it is.
          let frame = 0;
          u.over.addEventListener("mousemove", (event) => {
            cancelAnimationFrame(frame);
            frame = requestAnimationFrame(() => overlay.current(nearest(u, shown.current, event)));
          });
          u.over.addEventListener("mouseleave", () => { cancelAnimationFrame(frame); overlay.current(null); });
          u.over.addEventListener("dblclick", () => { zoomed.current = false; });
          u.over.addEventListener("click", (event) => {
            const found = nearest(u, shown.current, event);
            if (found && !u.select.width) pick(found.row.number);
          });
        }],
      },
    };
  }

  // A new mark is painted over what is there, without scaling anew.
  const painted = useRef<Row | null>(null);
  if (painted.current !== mark) {
    painted.current = mark;
    requestAnimationFrame(() => plot.current?.redraw(false, false));
  }

  function key(event: KeyboardEvent) {
    const at = rows.findIndex((row) => row.number === (marked ?? picked));
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, PageDown: 25, PageUp: -25 };
    const step = steps[event.key];
    let next: number | null = null;
    if (step !== undefined) next = Math.max(0, Math.min(rows.length - 1, at < 0 ? rows.length - 1 : at + step));
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = rows.length - 1;
    else if (event.key === "Enter" && at >= 0) { pick(rows[at]!.number); event.preventDefault(); }
    if (next !== null) { setMarked(rows[next]?.number ?? null); event.preventDefault(); }
  }

  async function picture(): Promise<void> {
    if (plot.current) save(await pictureOf(plot.current, css("panel")), `${convergence.job_id}-convergence.png`);
  }
  async function table(): Promise<void> {
    const { min = null, max = null } = plot.current?.scales["x"] ?? {};
    const seen = rows.filter((row) => (min === null || x(row) >= min) && (max === null || x(row) <= max));
    save(new Blob([csvOf([HEADER, ...seen.map(cells)])], { type: "text/csv" }), `${convergence.job_id}-convergence.csv`);
  }

  const legend = useMemo(() => <Legend techniques={techniques} rows={rows} statistics={statistics} scheme={scheme} />, [techniques, rows, statistics, scheme]);
  const spoken = rows.find((row) => row.number === marked);
  const best = convergence.best;
  return (
    <div>
      <div class="controls">
        <Choice label="X axis" options={AXES} value={kind} change={setKind} />
        <Choice label="Y scale" options={SCALES} value={scale} change={setScale} />
        <Action label="Save picture" kind="small" work={picture} />
        <Action label="Save data" kind="small" work={table} />
      </div>
      {/* The arrows walk along the trials; Enter opens one. */}
      <div class="chart" tabIndex={0} role="application" onKeyDown={key}
        aria-label={`Convergence over ${plural(convergence.total, "trial")}${best ? `, best ${duration(best.value)} at trial ${best.trial}` : ""}. Arrow keys walk along the trials, Enter opens one.`}>
        <Plot data={data} height={360} options={options} when={`${kind} ${scale}`}
          label="Best simulated time so far" onPlot={(made) => { plot.current = made; zoomed.current = false; }} />
        <Overlay best={best?.value ?? null} tell={overlay} />
      </div>
      <p class="visually-hidden" role="status">{spoken ? said(spoken) : ""}</p>
      {legend}
      <details class="more" onToggle={(event) => setOpen(event.currentTarget.open)}><summary>Proximity C(n){convergence.trials_to_reach ? `: within 10 % of the best after ${plural(convergence.trials_to_reach, "trial")} of the search` : ""}</summary>
        {open && <Proximity convergence={convergence} />}
      </details>
    </div>
  );
}

const HEADER = ["trial", "kind", "state", "cached", "technique", "label", "seconds", "best_seconds", "wall_seconds", "cpu_seconds"];

function cells(row: Row): Cell[] {
  return [row.number, row.kind, row.state, row.cached, row.technique, row.label, row.value, row.best, row.wall, row.cpu];
}

function said(row: Row): string {
  const technique = row.technique ? `, ${row.technique}` : "";
  return `Trial ${row.number}: ${row.state}${row.cached ? ", cached" : ""}, ${duration(row.value)}${technique}`;
}

interface Hovered { row: Row; left: number; top: number }

/** What is under the mouse: painting thousands of points anew for each of its moves would be felt. */
function Overlay({ best, tell }: { best: number | null; tell: { current: (at: Hovered | null) => void } }) {
  const [at, setAt] = useState<Hovered | null>(null);
  useEffect(() => {
    tell.current = (next) => setAt((old) => (old?.row === next?.row ? old : next));
    return () => { tell.current = () => undefined; };
  }, []);
  if (!at) return null;
  return (
    <>
      <span class="ring-mark" aria-hidden="true" style={{ left: `${at.left}px`, top: `${at.top}px` }} />
      <Tip row={at.row} best={best} left={at.left} top={at.top} />
    </>
  );
}

function Tip({ row, best, left, top }: { row: Row; best: number | null; left: number; top: number }) {
  return (
    <div class="tip" style={{ left: `${left}px`, top: `${top}px` }} aria-hidden="true">
      <b>Trial {row.number}</b> {row.state}{row.cached ? ", cached" : ""}
      <div>{row.state === "censored" ? "more than " : ""}{duration(row.value)}{row.value && best ? ` (${gain(row.value / best)} over the best)` : ""}</div>
      <div class="quiet">{row.label ?? row.technique ?? row.kind} · after {clock(row.wall)}</div>
    </div>
  );
}

function nearest(u: uPlot, { rows, places }: { rows: Row[]; places: Float32Array }, event: MouseEvent): Hovered | null {
  const left = event.offsetX * devicePixelRatio + u.bbox.left;
  const top = event.offsetY * devicePixelRatio + u.bbox.top;
  let found = -1;
  let least = (24 * devicePixelRatio) ** 2;
  for (let i = 0; i < places.length; i += 2) {
    const distance = ((places[i] ?? 0) - left) ** 2 + ((places[i + 1] ?? 0) - top) ** 2;
    if (distance < least) { least = distance; found = i; }
  }
  const row = rows[found / 2];
  return row ? { row, left: (places[found] ?? 0) / devicePixelRatio, top: (places[found + 1] ?? 0) / devicePixelRatio } : null;
}

/** The times to show: of the trials in view and of the baselines, with a little room. */
function bounds(u: uPlot, rows: Row[], baselines: Baseline[], x: (row: Row) => number, log: boolean): [number, number] {
  const { min = null, max = null } = u.scales["x"] ?? {};
  let low = Infinity;
  let high = -Infinity;
  const take = (value: number | null) => {
    if (value !== null && value > 0) { low = Math.min(low, value); high = Math.max(high, value); }
  };
  for (const row of rows) {
    const at = x(row);
    if ((min === null || at >= min) && (max === null || at <= max)) { take(row.value); take(row.best); }
  }
  baselines.forEach((one) => take(one.value));
  if (low === Infinity) return [0.001, 1];
  if (log) return [low / 1.08, high * 1.08];
  const room = (high - low || high * 0.1) * 0.08;
  return [Math.max(0, low - 1.6 * room), high + room];
}

function Legend({ techniques, rows, statistics, scheme }: {
  techniques: string[]; rows: Row[]; statistics: Statistics | null; scheme: string;
}) {
  const cached = statistics?.cached ?? rows.filter((row) => row.cached).length;
  const of = (state: TrialState) => (statistics ? (statistics.states[state] ?? 0) : rows.filter((row) => row.state === state).length);
  const shapes: [string, string, number][] = [
    ["ring", "cached", cached],
    ["tri", "censored: at least", of("censored")],
    ["cross", "infeasible", of("infeasible")],
    ["cross", "failed", of("failed")],
  ];
  return (
    <ul class="legend" aria-label="Legend">
      {techniques.map((name, i) => <li key={name}><span class="dot" style={{ background: colourOf(i, scheme) }} />{name}</li>)}
      {rows.some((row) => row.technique === null) && <li><span class="dot dot-ink" />baseline</li>}
      {shapes.filter(([, , n]) => n).map(([shape, name, n]) => <li key={name}><span class={`mark ${shape}`} />{name} ({n})</li>)}
    </ul>
  );
}

function Proximity({ convergence }: { convergence: Convergence }) {
  const rows = convergence.rows.filter((row) => row.kind === "search");
  const data = useMemo<uPlot.AlignedData>(
    () => [rows.map((row) => row.number), rows.map((row) => row.proximity), rows.map(() => convergence.close)],
    [convergence],
  );
  return (
    <Plot data={data} height={180} when="proximity" label="Proximity of the best so far to the best of all"
      options={() => ({
        scales: { x: { time: false }, y: { range: (_u, low) => [Math.min(0, low ?? 0), 1.02] } },
        legend: { show: false },
        cursor: { show: false },
        axes: [xAxis("trial"), axis("C(n)", (_u, splits) => splits.map((n) => n.toFixed(1)), 72)],
        series: [
          {},
          { stroke: () => css("accent"), width: 2, points: { show: false }, paths: uPlot.paths.stepped!({ align: 1 }) },
          { stroke: () => css("baseline"), width: 1, dash: [6, 4], points: { show: false } },
        ],
      })} />
  );
}
