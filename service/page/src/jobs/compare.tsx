// Several jobs over one another: best so far, each in its colour.
import { useMemo } from "preact/hooks";
import type { XAxis } from "../charts/axes.ts";
import { colourOf } from "../lib/colours.ts";
import { duration } from "../lib/format.ts";
import { useInterval, useResource, useScheme, useStored } from "../lib/hooks.ts";
import { href, replace, type Route } from "../lib/router.ts";
import type { Curve, Job, Page } from "../lib/types.ts";
import { Choice } from "../ui/choice.tsx";
import { Empty, Failure, Gain, Loading, Section, State } from "../ui/parts.tsx";
import { Curves } from "./curves.tsx";
import { allTrials } from "../lib/counts.ts";
import { slowerThan } from "../lib/slower.ts";
import { Trials } from "../job/page.tsx";
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
          : curves.loading || jobs.loading ? <Loading what="the curves" />
          : shown.length === 0 ? <Empty title="None of these jobs exists." />
          : (
            <Curves curves={shown} kind={kind} measure={measure} log={scale === "log"} called={(id) => names.get(id)?.name ?? id} />
          )}
        {shown.length > 0 && (
          <div class="scroll" tabIndex={0} role="region" aria-label="Jobs compared">
          <table>
            <thead><tr><th scope="col">Job</th><th scope="col">State</th><th scope="col">Tunes</th><th scope="col">Trials</th><th scope="col" class="num">Best</th><th scope="col" class="num">Gain</th><th scope="col"><span class="visually-hidden">Remove</span></th></tr></thead>
            <tbody>{shown.map((curve, i) => {
              const job = names.get(curve.job_id);
              return (
                <tr key={curve.job_id}>
                  <td><span class="dot" style={{ background: colourOf(i, scheme) }} /> <a href={href(["jobs", curve.job_id])}>{job?.name ?? curve.job_id}</a></td>
                  <td>{job && <State state={job.state} />}</td>
                  <td class="quiet">{job && application(job)}</td>
                  <td>{job ? <Trials job={job} /> : allTrials(curve.trial.at(-1) ?? 0)}</td>
                  <td class="num">{duration(curve.best.at(-1))}</td>
                  <td class="num"><Gain ratio={curve.gain} error={curve.error} {...(job ? { worse: slowerThan(job, curve.baseline_label) } : {})} /></td>
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
