// The convergence of a job: best so far as a line, every trial as a mark, baselines across.
import { useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { axis, timeAxis, X_NAMES, xAxis, type XAxis } from "../charts/axes.ts";
import { Plot } from "../charts/plot.tsx";
import type { Cell } from "../charts/csv.ts";
import type { Entry, Figure, Mark } from "../charts/figure.ts";
import { moving, onSingleClick, reveal, showAll, zoom } from "../charts/moving.ts";
import { replot, type PlotOptions } from "../charts/replot.ts";
import { colourOf, css } from "../lib/colours.ts";
import { count, duration, plural } from "../lib/format.ts";
import { useScheme, useStored } from "../lib/hooks.ts";
import { isSample, judged } from "../lib/table.ts";
import type { Convergence, Row } from "../lib/table.ts";
import type { Statistics, TrialState } from "../lib/types.ts";
import { Choice } from "../ui/choice.tsx";
import { Saving } from "../ui/saving.tsx";
import { Moving, ZoomButtons } from "../ui/zoom.tsx";
import { said, TipOverlay, type Hovered } from "./tip.tsx";
import { nameBaselines, paintBaselines, paintMark, paintTrials, place, placesOf, techniquesOf, type Baseline } from "./paint.ts";

const AXES = [["trial", "trial"], ["wall", "wall clock"], ["cpu", "simulator CPU"]] as const;
const SCALES = [["linear", "linear"], ["log", "log"]] as const;

function along(kind: XAxis): (row: Row) => number {
  if (kind === "wall") return (row) => row.wall;
  if (kind === "cpu") return (row) => row.cpu;
  return (row) => row.number;
}

type Pointed = Hovered & { row: Row };

export function ConvergenceChart({ name, convergence, statistics, pick, picked }: {
  /** Of the job. */
  name: string;
  convergence: Convergence;
  /** Of all trials, where the convergence has a sample of them. */
  statistics: Statistics | null;
  pick: (number: number) => void; picked: number | null;
}) {
  const [kind, setKind] = useStored<XAxis>("hamtune-axis", "trial");
  const [scale, setScale] = useStored<"linear" | "log">("hamtune-scale", "linear");
  const [open, setOpen] = useState(false);
  const [marked, setMarked] = useState<number | null>(null);
  const [zoomed, setZoomed] = useState(false);
  const plot = useRef<uPlot | null>(null);
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
  const told = useRef<Row | null>(null);
  const mark = rows.find((row) => row.number === (marked ?? picked)) ?? null;
  shown.current = { ...shown.current, rows, x, baselines, techniques, mark };
  const data = useMemo<uPlot.AlignedData>(
    () => [rows.map(x), rows.map((row) => row.best ?? null)],
    [rows, kind],
  );

  function tell(at: Pointed | null) {
    told.current = at?.row ?? null;
    overlay.current(at);
  }
  /** Have the tip where its trial is once the scale has moved; none where it is out of view. */
  function follow() {
    requestAnimationFrame(() => {
      if (plot.current && told.current) tell(placed(plot.current, told.current, x(told.current)));
    });
  }

  function options(colours: string): PlotOptions {
    return {
      plugins: [moving((zoomed) => { setZoomed(zoomed); follow(); })],
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
          nameBaselines(u, shown.current.baselines, shown.current.places);
          paintMark(u, shown.current.mark, shown.current.x);
        }],
        ready: [(u) => {
          // One look in a frame is enough, however often the mouse tells where it is.
          let frame = 0;
          u.over.addEventListener("mousemove", (event) => {
            cancelAnimationFrame(frame);
            frame = requestAnimationFrame(() => tell(nearest(u, shown.current, event)));
          });
          u.over.addEventListener("mouseleave", () => { cancelAnimationFrame(frame); tell(null); });
          onSingleClick(u, (event) => nearest(u, shown.current, event), (found) => pick(found.row.number));
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

  /** Where the keys go, with what the mouse would tell there. */
  function visit(row: Row) {
    setMarked(row.number);
    const drawn = plot.current;
    if (!drawn) return;
    reveal(drawn, x(row));
    told.current = row;
    follow();
  }
  function key(event: KeyboardEvent) {
    const at = rows.findIndex((row) => row.number === (marked ?? picked));
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, PageDown: 25, PageUp: -25 };
    const step = steps[event.key];
    let next: number | null = null;
    if (step !== undefined) next = Math.max(0, Math.min(rows.length - 1, at < 0 ? rows.length - 1 : at + step));
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = rows.length - 1;
    else if (plot.current && ["+", "-"].includes(event.key)) zoom(plot.current, event.key === "+" ? 0.8 : 1.25, rows[at] && x(rows[at]));
    else if (plot.current && event.key === "0") showAll(plot.current);
    else if (event.key === "Escape") tell(null);
    else if (event.key === "Enter" && at >= 0) { pick(rows[at]!.number); event.preventDefault(); }
    const row = next === null ? undefined : rows[next];
    if (row) { visit(row); event.preventDefault(); }
  }

  function figure(): Figure {
    const drawn = plot.current;
    const sampled = isSample(convergence) ? `drawn of ${count(convergence.rows.length)} of ${plural(convergence.total, "trial")}, an even sample with every improvement` : undefined;
    return {
      title: `${name}: simulated time by ${X_NAMES[kind]}`, note: sampled, width: drawn?.width ?? 0, height: drawn?.height ?? 0,
      legend: entries(techniques, rows, statistics, "light"),
      paint: (pen) => { if (drawn) replot(pen, drawn, options); },
    };
  }
  function table(): Cell[][] {
    const { min = null, max = null } = plot.current?.scales["x"] ?? {};
    const seen = rows.filter((row) => (min === null || x(row) >= min) && (max === null || x(row) <= max));
    const names = convergence.names;
    return [[...HEADER, ...names], ...seen.map((row) => [...cells(row), ...names.map((one) => row.parameters.get(one))])];
  }

  const legend = useMemo(() => <Legend techniques={techniques} rows={rows} statistics={statistics} scheme={scheme} />, [techniques, rows, statistics, scheme]);
  const spoken = rows.find((row) => row.number === marked);
  const best = convergence.best;
  return (
    <div>
      <div class="controls">
        <Choice label="X axis" options={AXES} value={kind} change={setKind} />
        <Choice label="Y scale" options={SCALES} value={scale} change={setScale} />
        <Saving name={`${convergence.job_id}-convergence${sampleOf(convergence)}`} figure={figure} table={table} />
        <ZoomButtons name="the convergence" zoomed={zoomed} zoom={(times) => { if (plot.current) zoom(plot.current, times); }} all={() => { if (plot.current) showAll(plot.current); }} />
        <Moving />
      </div>
      {/* The arrows walk along the trials; Enter opens one. */}
      <div class="chart" tabIndex={0} role="application" onKeyDown={key} onBlur={() => tell(null)}
        aria-label={`Convergence over ${plural(convergence.total, "trial")}${best ? `, best ${duration(best.value)} at trial ${best.trial}` : ""}. Arrow keys walk along the trials, Enter opens one, plus and minus zoom, 0 shows all.`}>
        <Plot data={data} height={360} options={options} when={`${kind} ${scale}`}
          label="Best simulated time so far" onPlot={(made) => { plot.current = made; }} />
        <TipOverlay best={best?.value ?? null} tell={overlay} />
      </div>
      <p class="visually-hidden" role="status">{spoken ? said(spoken) : ""}</p>
      {legend}
      <details class="more" onToggle={(event) => setOpen(event.currentTarget.open)}><summary>Proximity C(n){convergence.trials_to_reach ? `: within 10 % of the best after ${plural(convergence.trials_to_reach, "trial")} of the search` : ""}</summary>
        {open && <Proximity name={name} convergence={convergence} />}
      </details>
    </div>
  );
}

const HEADER = ["trial", "kind", "state", "cached", "technique", "label", "seconds", "best_seconds", "wall_seconds", "cpu_seconds"];

function cells(row: Row): Cell[] {
  return [row.number, row.kind, row.state, row.cached, row.technique, row.label, row.value, row.best, row.wall, row.cpu];
}

function nearest(u: uPlot, { rows, places }: { rows: Row[]; places: Float32Array }, event: MouseEvent): Pointed | null {
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

/** The place of a trial; null where it is out of view. */
function placed(u: uPlot, row: Row, x: number): Pointed | null {
  const [left, top] = place(u, row, x);
  const { left: low, width } = u.bbox;
  // The ends of the scale are sums: a trial at one of them may lie a hair beyond.
  return left < low - 1 || left > low + width + 1 ? null : { row, left: left / devicePixelRatio, top: top / devicePixelRatio };
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

const MARKS: Partial<Record<Mark, string>> = { dot: "dot", ring: "mark ring", triangle: "mark tri", cross: "mark cross" };

function Legend({ techniques, rows, statistics, scheme }: {
  techniques: string[]; rows: Row[]; statistics: Statistics | null; scheme: string;
}) {
  return (
    <ul class="legend" aria-label="Legend">
      {entries(techniques, rows, statistics, scheme).filter(({ mark }) => MARKS[mark]).map(({ mark, colour, name }) => (
        <li key={name}><span class={MARKS[mark]} style={mark === "dot" ? { background: colour } : {}} />{name}</li>
      ))}
    </ul>
  );
}

/** What colours and shapes mean; lines are named by the axis and beside them on the screen. */
function entries(techniques: string[], rows: Row[], statistics: Statistics | null, scheme: string): Entry[] {
  const cached = statistics?.cached ?? rows.filter((row) => row.cached).length;
  const of = (state: TrialState) => (statistics ? (statistics.states[state] ?? 0) : rows.filter((row) => row.state === state).length);
  const shapes: [Mark, string, number, string][] = [
    ["ring", "cached", cached, "ink-2"],
    ["triangle", "censored: at least", of("censored"), "ink-2"],
    ["cross", "infeasible", of("infeasible"), "bad"],
    ["cross", "failed", of("failed"), "bad"],
  ];
  return [
    { mark: "line", colour: css("accent"), name: "best so far" },
    ...techniques.map((name, i): Entry => ({ mark: "dot", colour: colourOf(i, scheme), name })),
    ...(rows.some((row) => row.technique === null) ? [{ mark: "dot", colour: css("ink"), name: "baseline" } as const] : []),
    ...shapes.filter(([, , n]) => n).map(([mark, name, n, colour]): Entry => ({ mark, colour: css(colour), name: `${name} (${n})` })),
  ];
}

/** What names of files say where less than all trials are drawn. */
function sampleOf(convergence: Convergence): string {
  return isSample(convergence) ? "-sample" : "";
}

function Proximity({ name, convergence }: { name: string; convergence: Convergence }) {
  const plot = useRef<uPlot | null>(null);
  const rows = convergence.rows.filter((row) => row.kind === "search");
  const data = useMemo<uPlot.AlignedData>(
    () => [rows.map((row) => row.number), rows.map((row) => row.proximity), rows.map(() => convergence.close)],
    [convergence],
  );
  const options = (): PlotOptions => ({
    scales: { x: { time: false }, y: { range: (_u, low) => [Math.min(0, low ?? 0), 1.02] } },
    legend: { show: false },
    cursor: { show: false },
    axes: [xAxis("trial"), axis("C(n)", (_u, splits) => splits.map((n) => n.toFixed(1)), 72)],
    series: [
      {},
      { stroke: () => css("accent"), width: 2, points: { show: false }, paths: uPlot.paths.stepped!({ align: 1 }) },
      { stroke: () => css("baseline"), width: 1, dash: [6, 4], points: { show: false } },
    ],
  });
  const figure = (): Figure => ({
    title: `${name}: proximity of the best so far to the best of all`, width: plot.current?.width ?? 0, height: plot.current?.height ?? 0,
    legend: [
      { mark: "line", colour: css("accent"), name: "proximity C(n)" },
      { mark: "dashes", colour: css("baseline"), name: `close: ${convergence.close}` },
    ],
    paint: (pen) => { if (plot.current) replot(pen, plot.current, options); },
  });
  const table = (): Cell[][] => [["trial", "proximity"], ...rows.map((row) => [row.number, row.proximity])];
  return (
    <>
      <Plot data={data} height={180} when="proximity" label="Proximity of the best so far to the best of all" options={options} onPlot={(made) => { plot.current = made; }} />
      <Saving name={`${convergence.job_id}-proximity${sampleOf(convergence)}`} figure={figure} table={table} />
    </>
  );
}
