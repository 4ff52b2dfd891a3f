// What more trials would bring, as the model of the search sees it: now, and as the search went.
import { useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { axis, xAxis } from "../charts/axes.ts";
import { Plot } from "../charts/plot.tsx";
import { replot, type PlotOptions } from "../charts/replot.ts";
import { colourOf } from "../lib/colours.ts";
import { chance } from "../lib/format.ts";
import { useFollowed, useScheme } from "../lib/hooks.ts";
import { ENDED, type Job, type Outlook } from "../lib/types.ts";
import { Failure } from "../ui/parts.tsx";
import { Saving } from "../ui/saving.tsx";

const HEIGHT = 200;
const CHANCE = "probability of a gain above 1 %";
const GAIN = "expected gain";

export function OutlookPart({ job, trials }: { job: Job; trials: number }) {
  const { data, error, reload } = useFollowed<Outlook>(`/jobs/${job.id}/outlook`, trials);
  const [open, setOpen] = useState(false);
  if (error) return <Failure problem={error} retry={reload} />;
  if (!data) return null;
  if (!data.last) return <p class="quiet small-text">What more trials would bring is not known: {data.unknown}.</p>;
  const { trial, probability, gain } = data.last;
  return (
    <>
      <p><b>{ENDED.includes(job.state) ? "More trials" : "Further trials"}:</b> the probability that some untried configuration is more than 1 % faster
        is {chance(probability)}; the expected gain is {gain < 0.001 ? "below 0.1" : (100 * gain).toFixed(1)} %. <span class="quiet">This is what the search expected at trial {trial}.</span></p>
      {data.points.length > 1 && (
        <details class="more" onToggle={(event) => setOpen(event.currentTarget.open)}><summary>Outlook by trial</summary>
          {open && <Picture job={job} outlook={data} />}
        </details>
      )}
    </>
  );
}

function Picture({ job, outlook }: { job: Job; outlook: Outlook }) {
  const plot = useRef<uPlot | null>(null);
  const scheme = useScheme();
  const { points } = outlook;
  const data = useMemo<uPlot.AlignedData>(
    () => [points.map((one) => one.trial), points.map((one) => 100 * one.probability), points.map((one) => 100 * one.gain)],
    [outlook],
  );
  const options = (colours: string): PlotOptions => ({
    scales: { x: { time: false }, y: { range: () => [0, 100] }, gain: { range: (_u, _low, high) => [0, Math.max(1, high ?? 0)] } },
    legend: { show: false },
    cursor: { show: false },
    axes: [
      xAxis("trial"),
      axis("probability", (_u, splits) => splits.map((n) => `${n} %`), 60),
      { ...axis(GAIN, (_u, splits) => splits.map((n) => `${n} %`), 60), scale: "gain", side: 1, grid: { show: false } },
    ],
    series: [
      {},
      { stroke: colourOf(0, colours), width: 2, points: { show: false }, paths: uPlot.paths.stepped!({ align: 1 }) },
      { scale: "gain", stroke: colourOf(1, colours), width: 2, dash: [6, 4], points: { show: false }, paths: uPlot.paths.stepped!({ align: 1 }) },
    ],
  });
  const last = points.at(-1);
  return (
    <>
      <Plot data={data} height={HEIGHT} when="outlook" options={options} onPlot={(made) => { plot.current = made; }}
        label={`Outlook at ${points.length} models of the search${last ? `, at last ${chance(last.probability)}` : ""}`} />
      <ul class="legend">
        <li><span class="dot" style={{ background: colourOf(0, scheme) }} />{CHANCE}</li>
        <li><span class="dot" style={{ background: colourOf(1, scheme) }} />{GAIN} (right)</li>
      </ul>
      <Saving name={`${job.id}-outlook`}
        figure={() => ({
          title: `${job.name}: what more trials would bring`, width: plot.current?.width ?? 0, height: HEIGHT,
          legend: [{ mark: "line", colour: colourOf(0, "light"), name: CHANCE }, { mark: "dashes", colour: colourOf(1, "light"), name: `${GAIN} (right)` }],
          paint: (pen) => { if (plot.current) replot(pen, plot.current, options); },
        })}
        table={() => [["trial", "probability", "expected_gain"], ...points.map((one) => [one.trial, one.probability, one.gain])]} />
    </>
  );
}
