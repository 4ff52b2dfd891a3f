// Several jobs over one another: best so far, each in its colour.
import { useMemo } from "preact/hooks";
import uPlot from "uplot";
import { timeAxis, xAxis, type XAxis } from "../charts/axes.ts";
import { Plot } from "../charts/plot.tsx";
import { colourOf } from "../lib/colours.ts";
import { duration } from "../lib/format.ts";
import { useInterval, useResource, useScheme, useStored } from "../lib/hooks.ts";
import { href, replace, type Route } from "../lib/router.ts";
import type { Curve, Job, Page } from "../lib/types.ts";
import { Choice } from "../ui/choice.tsx";
import { Empty, Failure, Gain, Loading, Section, State } from "../ui/parts.tsx";
import { application } from "./list.tsx";

const AXES = [["trial", "trial"], ["wall", "wall clock"], ["cpu", "simulator CPU"]] as const;
const MEASURES = [["time", "simulated time"], ["gain", "gain over its best baseline"]] as const;

export function ComparePage({ route }: { route: Route }) {
  const ids = useMemo(() => [...new Set((route.query.get("jobs") ?? "").split(",").filter(Boolean))].slice(0, 20), [route]);
  const [kind, setKind] = useStored<XAxis>("hamtune-axis", "trial");
  const [scale, setScale] = useStored<"linear" | "log">("hamtune-scale", "linear");
  const [measure, setMeasure] = useStored<"time" | "gain">("hamtune-measure", "time");
  const scheme = useScheme();
  const curves = useResource<{ items: Curve[] }>(ids.length ? `/curves?${new URLSearchParams(ids.map((id) => ["job", id]))}` : null);
  const jobs = useResource<Page<Job>>("/jobs?limit=200");
  const refused = curves.error?.refused || jobs.error?.refused;
  useInterval(() => { curves.reload(); jobs.reload(); }, refused ? null : 2000);
  const names = new Map(jobs.data?.items.map((job) => [job.id, job]));
  const shown = curves.data?.items ?? [];
  const data = useMemo(() => joined(shown, kind, measure), [curves.data, kind, measure]);
  const set = (chosen: string[]) => replace(["compare"], { jobs: chosen.join(",") });

  return (
    <>
      <div class="page-head"><h1>Compare jobs</h1></div>
      {curves.error && <Failure problem={curves.error} retry={curves.reload} />}
      <Section title="Best so far">
        <div class="controls">
          <Choice label="X axis" options={AXES} value={kind} change={setKind} />
          <Choice label="Show" options={MEASURES} value={measure} change={setMeasure} />
          {measure === "time" && <Choice label="Y scale" options={[["linear", "linear"], ["log", "log"]] as const} value={scale} change={setScale} />}
        </div>
        {ids.length === 0 ? <Empty title="No job is chosen."><p>Choose jobs below.</p></Empty>
          : curves.loading ? <Loading what="the curves" />
          : shown.length === 0 ? <Empty title="None of these jobs is there." />
          : (
            <Plot data={data} height={380} when={`${kind} ${scale} ${measure} ${shown.map((c) => c.job_id).join()}`}
              label={`Best so far of ${shown.length} jobs`}
              options={(colours) => ({
                scales: { x: { time: false }, y: { distr: scale === "log" && measure === "time" ? 3 : 1 } },
                legend: { show: false },
                cursor: { drag: { x: true, y: false } },
                axes: [xAxis(kind), measure === "time" ? timeAxis("simulated time", scale === "log")
                  : { ...timeAxis("gain", false), values: (_u, splits) => splits.map((n) => `${n.toFixed(0)} %`) }],
                series: [{}, ...shown.map((curve, i) => ({
                  label: names.get(curve.job_id)?.name ?? curve.job_id,
                  stroke: colourOf(i, colours),
                  width: 2,
                  spanGaps: true,
                  points: { show: false },
                  paths: uPlot.paths.stepped!({ align: 1 }),
                }))],
              })} />
          )}
        {shown.length > 0 && (
          <div class="scroll" tabIndex={0} role="region" aria-label="Jobs compared">
          <table>
            <thead><tr><th scope="col">Job</th><th scope="col">State</th><th scope="col">Tunes</th><th scope="col" class="num">Trials</th><th scope="col" class="num">Best</th><th scope="col" class="num">Gain</th><th scope="col"><span class="visually-hidden">Remove</span></th></tr></thead>
            <tbody>{shown.map((curve, i) => {
              const job = names.get(curve.job_id);
              return (
                <tr key={curve.job_id}>
                  <td><span class="dot" style={{ background: colourOf(i, scheme) }} /> <a href={href(["jobs", curve.job_id])}>{job?.name ?? curve.job_id}</a></td>
                  <td>{job && <State state={job.state} />}</td>
                  <td class="quiet">{job && application(job)}</td>
                  <td class="num">{curve.trial.at(-1) ?? 0}</td>
                  <td class="num">{duration(curve.best.at(-1))}</td>
                  <td class="num"><Gain ratio={curve.gain} error={curve.error} /></td>
                  <td><button type="button" class="small" aria-label={`Remove ${job?.name ?? curve.job_id}`} onClick={() => set(ids.filter((id) => id !== curve.job_id))}>Remove</button></td>
                </tr>
              );
            })}</tbody>
          </table>
          </div>
        )}
        <p><label>Add a job <select value="" onChange={(event) => { if (event.currentTarget.value) set([...ids, event.currentTarget.value]); }}>
          <option value="">choose …</option>
          {jobs.data?.items.filter((job) => !ids.includes(job.id)).map((job) => <option key={job.id} value={job.id}>{job.name} ({application(job)})</option>)}
        </select></label></p>
      </Section>
    </>
  );
}

/** Curves with their own places along x as columns over all of them. */
export function joined(curves: Curve[], kind: XAxis, measure: "time" | "gain"): uPlot.AlignedData {
  const at = (curve: Curve) => (kind === "trial" ? curve.trial : kind === "wall" ? curve.wall_seconds : curve.cpu_seconds);
  const xs = [...new Set(curves.flatMap(at))].sort((a, b) => a - b);
  const index = new Map(xs.map((x, i) => [x, i]));
  return [xs, ...curves.map((curve) => {
    const column: (number | null | undefined)[] = new Array(xs.length).fill(undefined);
    at(curve).forEach((x, i) => {
      const best = curve.best[i] as number;
      column[index.get(x) as number] = measure === "time" ? best : curve.baseline === null ? null : (curve.baseline / best - 1) * 100;
    });
    return column;
  })] as uPlot.AlignedData;
}
