// The best so far of several jobs: as columns of one chart, and as steps that can be walked along.
import type uPlot from "uplot";
import type { XAxis } from "../charts/axes.ts";
import type { Curve } from "./types.ts";

export type Measure = "time" | "gain";

export function placesOf(curve: Curve, kind: XAxis): number[] {
  return kind === "trial" ? curve.trial : kind === "wall" ? curve.wall_seconds : curve.cpu_seconds;
}

/** Seconds, or the gain in percent. */
export function measured(curve: Curve, i: number, measure: Measure): number | null {
  const best = curve.best[i] as number;
  if (measure === "time") return best;
  return curve.baseline === null ? null : (curve.baseline / best - 1) * 100;
}

/** Curves with their own places along x as columns over all of them. */
export function joined(curves: Curve[], kind: XAxis, measure: Measure): uPlot.AlignedData {
  const xs = [...new Set(curves.flatMap((curve) => placesOf(curve, kind)))].sort((a, b) => a - b);
  const index = new Map(xs.map((x, i) => [x, i]));
  return [xs, ...curves.map((curve) => {
    const column: (number | null | undefined)[] = new Array(xs.length).fill(undefined);
    placesOf(curve, kind).forEach((x, i) => { column[index.get(x) as number] = measured(curve, i, measure); });
    return column;
  })] as uPlot.AlignedData;
}

/** A trial that was better than all before it in its job, and where it lies on the chart. */
export interface Step { job: string; trial: number; seconds: number; x: number; y: number }

/** Those of each job one after another. A curve goes on to its last trial, which is no step where it is no better. */
export function stepsOf(curves: Curve[], kind: XAxis, measure: Measure): Step[] {
  return curves.flatMap((curve) => placesOf(curve, kind).flatMap((x, i) => {
    const [y, seconds] = [measured(curve, i, measure), curve.best[i] as number];
    if (y === null || (i > 0 && seconds === curve.best[i - 1])) return [];
    return [{ job: curve.job_id, trial: curve.trial[i] as number, seconds, x, y }];
  }));
}

/** Where a key leads to: along the steps of a job, or to what lies nearest along x in the job before or after. */
export function nextStep(steps: Step[], at: Step | null, key: string): Step | null {
  if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(key) || !steps.length) return null;
  const here = at && steps.find((one) => one.job === at.job && one.trial === at.trial);
  if (!here) return steps[0] ?? null;
  const jobs = [...new Set(steps.map((one) => one.job))];
  const of = (job: string | undefined) => steps.filter((one) => one.job === job);
  if (key === "ArrowUp" || key === "ArrowDown") {
    const other = of(jobs[jobs.indexOf(here.job) + (key === "ArrowDown" ? 1 : -1)]);
    return other.length ? other.reduce((a, b) => (Math.abs(a.x - here.x) <= Math.abs(b.x - here.x) ? a : b)) : here;
  }
  const own = of(here.job);
  const place = own.indexOf(here);
  const next = key === "Home" ? 0 : key === "End" ? own.length - 1 : place + (key === "ArrowRight" ? 1 : -1);
  return own[Math.max(0, Math.min(own.length - 1, next))] ?? here;
}
