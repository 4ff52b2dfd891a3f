// What clusters measured of a job's configurations, over what was simulated of them.
import { useMemo, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { timeAcross, timeAxis } from "../charts/axes.ts";
import { Plot } from "../charts/plot.tsx";
import { replot } from "../charts/replot.ts";
import { css } from "../lib/colours.ts";
import { duration } from "../lib/format.ts";
import { useResource } from "../lib/hooks.ts";
import { intervalOf } from "../lib/intervals.ts";
import type { Job, MeasuredList } from "../lib/types.ts";
import { Section } from "../ui/parts.tsx";
import { Saving } from "../ui/saving.tsx";

const HEIGHT = 320;
const NAMES: Record<string, string> = { finalists: "finalist", validation: "validation" };

interface Point { name: string; purpose: string; simulated: number | null; mean: number; half: number | null; runs: number }

export function MeasuredTimes({ job }: { job: Job }) {
  const found = useResource<MeasuredList>(`/jobs/${job.id}/measured`);
  const points = useMemo(() => (found.data ? pointsOf(found.data) : []), [found.data]);
  if (!found.data || (!found.data.items.length && found.data.state === null)) return null;
  const without = found.data.items.filter((one) => one.state !== "dropped" && !one.runs.some((run) => run.state === "counted"));
  const drawn = points.filter((one) => one.simulated !== null);
  return (
    <Section title="Measured">
      <p>{stateOf(found.data)}</p>
      {drawn.length > 0 && <Picture job={job} points={drawn} />}
      {points.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Measured times"><table>
          <thead><tr><th scope="col">Configuration</th><th scope="col">For</th><th scope="col">Simulated</th><th scope="col">Measured</th><th scope="col">Simulated over measured</th><th scope="col">Runs</th></tr></thead>
          <tbody>{points.map((one, i) => (
            <tr key={i}><th scope="row">{one.name}</th><td>{NAMES[one.purpose] ?? one.purpose}</td><td>{one.simulated === null ? "–" : duration(one.simulated)}</td>
              <td>{duration(one.mean)}{one.half !== null && ` ± ${(100 * one.half / one.mean).toPrecision(2)}%`}</td>
              <td>{one.simulated === null ? "–" : (one.simulated / one.mean).toFixed(2)}</td><td>{one.runs}</td></tr>
          ))}</tbody>
        </table></div>
      )}
      <Apart points={drawn} />
      {without.length > 0 && <p class="quiet">No valid time: {without.map((one) => nameOf(one.trial, one.label)).join(", ")}.</p>}
    </Section>
  );
}

const APART = 2; // a factor that no model's error explains

/** Says so where the cluster that measured cannot be as fast as the job's machine, as an emulated one is. */
function Apart({ points }: { points: Point[] }) {
  const ratios = points.map((one) => (one.simulated as number) / one.mean).sort((a, b) => a - b);
  const middle = ratios[ratios.length >> 1];
  if (middle === undefined || (middle < APART && middle > 1 / APART)) return null;
  return <p>Simulated times are {middle.toPrecision(2)} of the measured ones: the cluster is not as fast as the machine that the job describes, so the order can agree but the times cannot.</p>;
}

/** A label with the trial's number, which it may have already: "trial 5", "baseline torus-2d (1)". */
function nameOf(trial: number | null, label: string): string {
  return trial === null || label.split(/[ ()]+/).includes(String(trial)) ? label : `${label} (${trial})`;
}

function pointsOf(list: MeasuredList): Point[] {
  return list.items.flatMap((one) => {
    const seconds = one.runs.flatMap((run) => (run.state === "counted" && run.seconds !== null ? [run.seconds] : []));
    if (!seconds.length) return [];
    return [{ name: nameOf(one.trial, one.label), purpose: one.purpose, simulated: one.simulated, runs: seconds.length, ...intervalOf(seconds) }];
  }).sort((a, b) => a.mean - b.mean);
}

function stateOf(list: MeasuredList): string {
  const where = list.cluster === null ? "" : ` on ${list.cluster}`;
  const because = list.because === null ? "" : ` (${list.because})`;
  switch (list.state) {
    case "open": return `Finalists are being measured${where}.`;
    case "decided": return `Finalists were measured${where}: trial ${list.decided} is the best of them${because}.`;
    case "undecided": return `Finalists have no measured times, and the simulation decides${because}.`;
    default: return "Measured to check the model; the simulation decides.";
  }
}

/** Each configuration with the 95% interval of its mean, beside the line where both times are equal. */
function Picture({ job, points }: { job: Job; points: Point[] }) {
  const plot = useRef<uPlot | null>(null);
  const sorted = useMemo(() => [...points].sort((a, b) => (a.simulated as number) - (b.simulated as number)), [points]);
  const data = useMemo<uPlot.AlignedData>(() => {
    const x = sorted.map((one) => one.simulated as number);
    return [x, sorted.map((one) => one.mean), x];
  }, [sorted]);
  const options = () => ({
    scales: { x: { time: false, distr: 3 as const }, y: { distr: 3 as const } },
    legend: { show: false },
    cursor: { show: false },
    axes: [timeAcross("simulated"), timeAxis("measured", true)],
    series: [
      {},
      { stroke: () => css("accent"), paths: () => null, points: { show: true, size: 8, fill: () => css("accent") } },
      { stroke: () => css("line"), width: 1.5, dash: [6, 4], points: { show: false } },
    ],
    hooks: { draw: [(u: uPlot) => intervals(u, sorted)] },
  });
  const label = `Measured over simulated times: ${sorted.map((one) => `${one.name} ${duration(one.mean)} measured, ${duration(one.simulated)} simulated`).join("; ")}`;
  return (
    <>
      <Plot data={data} height={HEIGHT} options={options} when={JSON.stringify(sorted)} label={label} onPlot={(made) => { plot.current = made; }} />
      <p class="quiet">Points: means with their 95% intervals. Dashed line: measured as simulated.</p>
      <Saving name={`${job.id}-measured`}
        figure={() => ({
          title: `${job.name}: measured over simulated times`, note: "means with their 95% intervals",
          width: plot.current?.width ?? 0, height: HEIGHT,
          legend: [{ mark: "dot", colour: css("accent"), name: "measured" }, { mark: "dashes", colour: css("line"), name: "measured as simulated" }],
          paint: (pen) => { if (plot.current) replot(pen, plot.current, options); },
        })}
        table={() => [["configuration", "for", "simulated", "measured", "half_interval", "runs"], ...sorted.map((one) => [one.name, one.purpose, one.simulated, one.mean, one.half, one.runs])]} />
    </>
  );
}

function intervals(u: uPlot, points: Point[]): void {
  u.ctx.save();
  u.ctx.strokeStyle = css("accent");
  u.ctx.setLineDash([]);
  u.ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const one of points) {
    if (one.half === null) continue;
    const x = u.valToPos(one.simulated as number, "x", true);
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.valToPos(Math.max(one.mean - one.half, one.mean / 100), "y", true));
    u.ctx.lineTo(x, u.valToPos(one.mean + one.half, "y", true));
    u.ctx.stroke();
  }
  u.ctx.restore();
}
