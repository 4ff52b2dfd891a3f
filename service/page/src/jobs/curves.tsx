// The chart of the comparison: the best so far of each job, with the trial that brought it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { timeAxis, X_NAMES, xAxis, type XAxis } from "../charts/axes.ts";
import type { Cell } from "../charts/csv.ts";
import type { Figure } from "../charts/figure.ts";
import { moving, onSingleClick, reveal, showAll, zoom } from "../charts/moving.ts";
import { Plot } from "../charts/plot.tsx";
import { replot, type PlotOptions } from "../charts/replot.ts";
import { said, TipOverlay, type Hovered, type Told } from "../job/tip.tsx";
import { colourOf } from "../lib/colours.ts";
import { joined, measured, nextStep, placesOf, stepsOf, type Measure, type Step } from "../lib/curves.ts";
import { useResource } from "../lib/hooks.ts";
import { flatten } from "../lib/replay.ts";
import { go } from "../lib/router.ts";
import type { Curve, Trial } from "../lib/types.ts";
import { Saving } from "../ui/saving.tsx";
import { Moving, ZoomButtons } from "../ui/zoom.tsx";

const NEAR = 24; // pixels from the mouse to what it tells

export function Curves({ curves, kind, measure, log, called }: {
  curves: Curve[]; kind: XAxis; measure: Measure; log: boolean; called: (job: string) => string;
}) {
  const plot = useRef<uPlot | null>(null);
  const [zoomed, setZoomed] = useState(false);
  const [at, visit] = useState<Step | null>(null);
  const data = useMemo(() => joined(curves, kind, measure), [curves, kind, measure]);
  const steps = useMemo(() => stepsOf(curves, kind, measure), [curves, kind, measure]);
  // What the listeners of the chart look at: they are made once.
  const latest = useRef(steps);
  latest.current = steps;

  const options = (colours: string): PlotOptions => ({
    plugins: [moving(setZoomed)],
    scales: { x: { time: false }, y: { distr: log && measure === "time" ? 3 : 1 } },
    legend: { show: false },
    cursor: { points: { show: false }, drag: { x: true, y: false }, y: false },
    axes: [xAxis(kind), measure === "time" ? timeAxis("simulated time", log)
      : { ...timeAxis("gain", false), values: (_u, splits) => splits.map((n) => `${n.toFixed(0)} %`) }],
    series: [{}, ...curves.map((curve, i) => ({
      label: called(curve.job_id),
      stroke: colourOf(i, colours),
      width: 2,
      spanGaps: true,
      points: { show: false },
      paths: uPlot.paths.stepped!({ align: 1 }),
    }))],
    hooks: {
      ready: [(u) => {
        let frame = 0;
        u.over.addEventListener("mousemove", (event) => {
          cancelAnimationFrame(frame);
          frame = requestAnimationFrame(() => visit(nearest(u, latest.current, event)));
        });
        u.over.addEventListener("mouseleave", () => { cancelAnimationFrame(frame); visit(null); });
        onSingleClick(u, (event) => nearest(u, latest.current, event), open);
      }],
    },
  });
  function key(event: KeyboardEvent) {
    const drawn = plot.current;
    const next = nextStep(steps, at, event.key);
    if (next) {
      visit(next);
      if (drawn) reveal(drawn, next.x);
    } else if (event.key === "Enter" && at) open(at);
    else if (event.key === "Escape") visit(null);
    else if (drawn && ["+", "-"].includes(event.key)) zoom(drawn, event.key === "+" ? 0.8 : 1.25, at?.x);
    else if (drawn && event.key === "0") showAll(drawn);
    else return;
    event.preventDefault();
  }
  const figure = (): Figure => ({
    title: `${measure === "time" ? "Best simulated time" : "Gain over the best baseline"} by ${X_NAMES[kind]}`,
    width: plot.current?.width ?? 0, height: plot.current?.height ?? 0,
    legend: curves.map((curve, i) => ({ mark: "line", colour: colourOf(i, "light"), name: called(curve.job_id) })),
    paint: (pen) => { if (plot.current) replot(pen, plot.current, options); },
  });
  function table(): Cell[][] {
    const { min = null, max = null } = plot.current?.scales["x"] ?? {};
    const seen = (x: number) => (min === null || x >= min) && (max === null || x <= max);
    return [["job", "name", "trial", measure === "time" ? "best_seconds" : "gain_percent", "wall_seconds", "cpu_seconds"],
      ...curves.flatMap((curve) => placesOf(curve, kind).flatMap((x, i): Cell[][] => (seen(x)
        ? [[curve.job_id, called(curve.job_id), curve.trial[i], measured(curve, i, measure), curve.wall_seconds[i], curve.cpu_seconds[i]]] : [])))];
  }
  const label = `Best so far of ${curves.length} jobs`;
  return (
    <>
      <div class="controls">
        <Saving name="comparison" figure={figure} table={table} />
        <ZoomButtons name="the comparison" zoomed={zoomed} zoom={(times) => { if (plot.current) zoom(plot.current, times); }} all={() => { if (plot.current) showAll(plot.current); }} />
        <Moving />
      </div>
      <div class="chart" tabIndex={0} role="application" onKeyDown={key} onBlur={() => visit(null)}
        aria-label={`${label}. Left and right arrow keys walk along the improvements of a job, up and down go to another job, Enter opens a trial, plus and minus zoom, 0 shows all.`}>
        <Plot data={data} height={380} when={`${kind} ${log} ${measure} ${curves.map((curve) => curve.job_id).join()}`}
          label={label} options={options} onPlot={(made) => { plot.current = made; }} />
        <StepTip step={at} plot={plot} called={called} />
      </div>
    </>
  );
}

function open({ job, trial }: Step): void {
  go(["jobs", job, "convergence"], { trial: String(trial) });
}

function nearest(u: uPlot, steps: Step[], event: MouseEvent): Step | null {
  let [found, least]: [Step | null, number] = [null, NEAR ** 2];
  for (const step of steps) {
    const distance = (u.valToPos(step.x, "x") - event.offsetX) ** 2 + (u.valToPos(step.y, "y") - event.offsetY) ** 2;
    if (distance < least) [found, least] = [step, distance];
  }
  return found;
}

/** The trial of a step, of which the curves have no configuration: the service is asked for it. */
function StepTip({ step, plot, called }: { step: Step | null; plot: { current: uPlot | null }; called: (job: string) => string }) {
  const { data } = useResource<Trial>(step && `/jobs/${step.job}/trials/${step.trial}`);
  const tell = useRef<(at: Hovered | null) => void>(() => undefined);
  const row = useMemo((): Told | null => step && {
    number: step.trial, job: called(step.job), value: step.seconds, state: data?.state ?? "completed", cached: data?.cached ?? false,
    parameters: data && flatten(data.configuration), ...(data ? { label: data.label, technique: data.technique, kind: data.kind } : {}),
  }, [step, data]);
  useEffect(() => {
    // Once the scale has moved to where the keys went.
    const frame = requestAnimationFrame(() => {
      const drawn = plot.current;
      tell.current(row && step && drawn ? {
        row, left: drawn.valToPos(step.x, "x") + drawn.over.offsetLeft, top: drawn.valToPos(step.y, "y") + drawn.over.offsetTop,
      } : null);
    });
    return () => cancelAnimationFrame(frame);
  }, [row]);
  return (
    <>
      <TipOverlay best={null} tell={tell} />
      <p class="visually-hidden" role="status">{row ? said(row) : ""}</p>
    </>
  );
}
