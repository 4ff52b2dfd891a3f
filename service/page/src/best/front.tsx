// Simulated time over what the network costs or draws: what no other trial beats in both.
import { useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { axis, timeAxis } from "../charts/axes.ts";
import type { Cell } from "../charts/csv.ts";
import type { Figure } from "../charts/figure.ts";
import { Plot } from "../charts/plot.tsx";
import { replot } from "../charts/replot.ts";
import { css } from "../lib/colours.ts";
import { count, duration, price, sentence } from "../lib/format.ts";
import { useResource } from "../lib/hooks.ts";
import { href } from "../lib/router.ts";
import { staircase } from "../lib/staircase.ts";
import type { Front, FrontPoint, Job } from "../lib/types.ts";
import { Section } from "../ui/parts.tsx";
import { Saving } from "../ui/saving.tsx";

const HEIGHT = 320;
type By = Front["by"];

const NAMES: Record<By, string> = { cost: "Cost", power: "Watts", energy: "Joules" };
const TITLES: Record<By, string> = { cost: "Time and cost", power: "Time and power", energy: "Time and energy" };
const AXES: Record<By, string> = { cost: "cost of the network", power: "power of the network (W)", energy: "energy of a run (J)" };

/** Nothing where the job has one network: there is nothing to weigh then. */
export function TimeAndCost({ job }: { job: Job }) {
  const [by, setBy] = useState<By | null>(null);
  const found = useResource<Front>(`/jobs/${job.id}/front${by === null ? "" : `?by=${by}`}`);
  const front = found.data;
  if (!front || front.points.length + front.others.length < 2) return null;
  return (
    <Section title={TITLES[front.by]}>
      <p><label>Time against <select value={front.by} onChange={(event) => setBy(event.currentTarget.value as By)}>
        <option value="cost">cost</option><option value="power">power</option><option value="energy">energy</option>
      </select></label></p>
      <Picture job={job} front={front} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Trials that no other one beats"><table>
        <thead><tr><th scope="col">Trial</th><th scope="col">Time</th><th scope="col">Cost</th><th scope="col">Watts</th><th scope="col">Joules</th><th scope="col">Switches</th><th scope="col">Cables</th><th scope="col">Diameter</th><th scope="col">Network</th></tr></thead>
        <tbody>{front.points.map((one) => (
          <tr key={one.trial}><th scope="row"><a href={href(["jobs", job.id, "best"], { trial: String(one.trial) })}>{one.trial}</a></th>
            <td>{duration(one.value)}</td><td>{count(Math.round(one.cost))}</td><td>{count(Math.round(one.power))}</td><td>{price(one.energy)}</td>
            <td>{count(one.switches)}</td><td>{count(one.cables)}</td><td>{one.diameter}</td><td>{one.network}</td></tr>
        ))}</tbody>
      </table></div>
      <p class="quiet">Prices and watts are those of the machine’s parts, or round figures where it lists none. Joules are what network and hosts draw during the run. To export a trial, click its number.{front.note && ` ${sentence(front.note)}.`}</p>
    </Section>
  );
}

function Picture({ job, front }: { job: Job; front: Front }) {
  const plot = useRef<uPlot | null>(null);
  const drawn = useMemo(() => staircase(front), [front]);
  const dots = (name: string, size: number) => ({ stroke: () => css(name), paths: () => null, points: { show: true, size, fill: () => css(name) } });
  const options = () => ({
    scales: { x: { time: false }, y: { distr: 3 as const } },
    legend: { show: false },
    cursor: { show: false },
    axes: [axis(AXES[front.by], (_u, splits) => splits.map((n) => price(n)), 44), timeAxis("simulated", true)],
    series: [
      {},
      dots("ink-2", 5),
      dots("baseline", 7),
      { stroke: () => css("accent"), width: 2, spanGaps: true, points: { show: false } },
      dots("accent", 9),
    ],
  });
  const figure = (): Figure => ({
    title: `${job.name}: simulated time over ${NAMES[front.by].toLowerCase()}`,
    width: plot.current?.width ?? 0, height: plot.current?.height ?? 0,
    legend: [
      { mark: "line", colour: css("accent"), name: "trials that no other trial beats in both" },
      ...(front.others.length ? [{ mark: "dot", colour: css("ink-2"), name: "fastest trial of another network" } as const] : []),
      ...(front.baselines.length ? [{ mark: "dot", colour: css("baseline"), name: "baseline outside the search space" } as const] : []),
    ],
    paint: (pen) => { if (plot.current) replot(pen, plot.current, options); },
  });
  const place = (one: FrontPoint) => `trial ${one.trial} ${duration(one.value)} for ${price(one[front.by])}`;
  const label = `Simulated time over ${NAMES[front.by].toLowerCase()}: ${front.points.map(place).join("; ")}`;
  return (
    <>
      <Plot data={drawn as uPlot.AlignedData} height={HEIGHT} options={options} when={`${front.by} ${JSON.stringify(front.points.map((one) => one.trial))}`} label={label} onPlot={(made) => { plot.current = made; }} />
      <Saving name={`${job.id}-front`} figure={figure} table={() => table(front)} />
      <p class="quiet">{front.points.length > 1 ? "Line and large points: the trials" : "Large point: the trial"} that no other trial beats in both. Small points: the fastest trial of every other network.{front.baselines.length > 0 && " Medium points: baselines outside the search space."}</p>
    </>
  );
}

function table(front: Front): Cell[][] {
  const row = (kind: string) => (one: FrontPoint): Cell[] => [
    kind, one.trial, one.label, one.value, one.cost, one.power, one.energy, one.switches, one.cables, one.adapters, one.metres, one.diameter, one.network,
  ];
  return [
    ["kind", "trial", "label", "seconds", "cost", "watts", "joules", "switches", "cables", "adapters", "metres", "diameter", "network"],
    ...front.points.map(row("front")), ...front.others.map(row("other network")), ...front.baselines.map(row("baseline")),
  ];
}
