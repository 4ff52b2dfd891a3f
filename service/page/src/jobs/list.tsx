// All jobs: what they are at, how far they came, and how their best fell.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, Problem } from "../lib/api.ts";
import { clock, duration, hour, moment } from "../lib/format.ts";
import { asProblem, useInterval, useResource } from "../lib/hooks.ts";
import { jobsPath, LIMIT } from "../lib/paths.ts";
import { go, href, replace, type Route } from "../lib/router.ts";
import { slowerThan } from "../lib/slower.ts";
import { ACTIVE, ENDED, type Curve, type Job, type Page } from "../lib/types.ts";
import { Tag } from "../job/description.tsx";
import { Trials } from "../job/page.tsx";
import { Empty, Failure, Gain, Loading, State, Waiting } from "../ui/parts.tsx";
import { Sparkline } from "./sparkline.tsx";
import { DELETED_COLUMNS, DeletedRow, JustDeleted } from "./trash.tsx";

const FILTERS = [
  ["", "all"], ["active", "active"], ["paused", "paused"], ["completed", "completed"], ["failed", "failed"], ["cancelled", "cancelled"], ["archived", "archived"], ["deleted", "deleted"],
] as const;

const NONE: Job[] = [];

export function JobsPage({ route }: { route: Route }) {
  const filter = route.query.get("state") ?? "";
  const search = route.query.get("search") ?? "";
  const [typed, setTyped] = useState(search);
  const sent = useRef(search); // what this field searched for last
  const [more, setMore] = useState<{ items: Job[]; cursor: string | null } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [chosen, setChosen] = useState<string[]>([]);
  const first = useResource<Page<Job>>(jobsPath(filter, search, null));
  useEffect(() => { setMore(null); setProblem(null); }, [filter, search]);
  const jobs = useMemo(() => {
    const seen = new Set(first.data?.items.map((job) => job.id));
    return [...(first.data?.items ?? []), ...(more?.items.filter((job) => !seen.has(job.id)) ?? [])];
  }, [first.data, more]);
  const busy = jobs.some((job) => ACTIVE.includes(job.state));
  // Who was refused would be refused again.
  useInterval(first.reload, first.error?.refused ? null : busy || first.error ? 1000 : 4000);
  const deleted = filter === "deleted";
  const curves = useCurves(deleted ? NONE : jobs);
  const cursor = more ? more.cursor : (first.data?.cursor ?? null);

  // What is typed is looked for after a short rest; where a link changes the search, the field follows.
  useEffect(() => {
    if (search !== sent.current) {
      sent.current = search;
      setTyped(search);
      return;
    }
    if (typed === search) return;
    const timer = setTimeout(() => {
      sent.current = typed.trim();
      replace(["jobs"], { state: filter, search: sent.current });
    }, 250);
    return () => clearTimeout(timer);
  }, [typed, search, filter]);

  async function fetchMore() {
    try {
      const page = await get<Page<Job>>(jobsPath(filter, search, cursor));
      setMore((old) => ({ items: [...(old?.items ?? []), ...page.items], cursor: page.cursor }));
    } catch (error) {
      setProblem(asProblem(error));
    }
  }
  function forget(id: string) {
    setMore((old) => old && { ...old, items: old.items.filter((job) => job.id !== id) });
    first.reload();
  }
  const toggle = (id: string) => setChosen((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old, id]));

  return (
    <>
      <div class="page-head">
        <h1>Jobs</h1>
        <a class="button primary" href={href(["new"])}>New job</a>
      </div>
      <div class="controls">
        <label class="search"><span class="visually-hidden">Search jobs by name, tag or id</span>
          <input type="search" placeholder="Search by name, tag or id" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} /></label>
        <label>State <select value={filter} onChange={(event) => replace(["jobs"], { state: event.currentTarget.value, search })}>
          {FILTERS.map(([key, text]) => <option key={key} value={key}>{text}</option>)}
        </select></label>
        <button type="button" disabled={chosen.length < 2} onClick={() => go(["compare"], { jobs: chosen.join(",") })}>
          Compare{chosen.length > 1 ? ` ${chosen.length}` : ""}
        </button>
      </div>
      <JustDeleted />
      {first.error && <Failure problem={first.error} retry={first.reload} />}
      {first.loading ? <Loading what="jobs" />
        : jobs.length === 0 && !first.error ? <NoJobs filtered={Boolean(filter || search)} />
        : jobs.length > 0 && (
          <div class="scroll" tabIndex={0} role="region" aria-label="Jobs">
            <table class={deleted ? "deleted" : "jobs"}>
              {deleted ? <thead><tr>{DELETED_COLUMNS.map((title) => <th key={title} scope="col">{title}</th>)}</tr></thead> : <thead><tr>
                <th scope="col"><span class="visually-hidden">Choose</span></th>
                <th scope="col">Job</th><th scope="col">State</th><th scope="col">Trials</th><th scope="col" class="num">Best</th>
                <th scope="col" class="num">Gain</th><th scope="col">Convergence</th><th scope="col">Created</th>
              </tr></thead>}
              <tbody>{jobs.map((job) => deleted ? <DeletedRow key={job.id} job={job} what={application(job)} onDelete={() => forget(job.id)} /> : (
                <Row key={job.id} job={job} curve={curves.get(job.id)} chosen={chosen.includes(job.id)} toggle={() => toggle(job.id)} />
              ))}</tbody>
            </table>
          </div>
        )}
      {problem && <Failure problem={problem} />}
      {cursor && <p class="pager"><button type="button" onClick={() => void fetchMore()}>Older jobs</button></p>}
    </>
  );
}

function Row({ job, curve, chosen, toggle }: { job: Job; curve: Curve | undefined; chosen: boolean; toggle: () => void }) {
  return (
    <tr>
      <td><input type="checkbox" checked={chosen} onChange={toggle} aria-label={`Compare ${job.name}`} /></td>
      <td data-label="Job"><a class="job-name" href={href(["jobs", job.id])}>{job.name}</a><span class="sub">{application(job)}</span>{job.tags.length > 0 && <span class="sub tags">{job.tags.map((tag) => <Tag key={tag} tag={tag} />)}</span>}</td>
      <td data-label="State"><State state={job.state} /><Waiting job={job} /></td>
      <td data-label="Trials"><Trials job={job} /></td>
      <td data-label="Best" class="num">{duration(job.progress.best?.value)}</td>
      <td data-label="Gain" class="num"><Gain ratio={curve?.gain} error={curve?.error} worse={slowerThan(job, curve?.baseline_label ?? null)} /></td>
      <td data-label="Convergence"><Sparkline curve={curve} /></td>
      <td data-label="Created" class="quiet">{moment(job.created_at)}{job.active_seconds > 0 && <span class="sub">{clock(job.active_seconds)} elapsed</span>}{job.estimated_end !== null && !ENDED.includes(job.state) && <span class="sub">done by about {hour(job.estimated_end)}</span>}</td>
    </tr>
  );
}

/** What a job tunes, in a few words. */
export function application(job: Pick<Job, "spec">): string {
  const one = job.spec["application"] as { [name: string]: unknown } | undefined;
  const machine = job.spec["machine"] as { nodes?: number; degree?: number } | undefined;
  const hosts = machine?.nodes ? ` on ${machine.nodes} hosts` : "";
  if (!one) return hosts.trim();
  const ranks = one["ranks"] ? `, ${String(one["ranks"])} ranks` : "";
  if (one["builtin"]) return `${String(one["builtin"])}${one["class"] ? `.${String(one["class"])}` : ""}${ranks}${hosts}`;
  if (one["pattern"]) return `${String(one["pattern"])}${ranks}${hosts}`;
  if (one["extrapolate"]) return `extrapolated${ranks}${hosts}`;
  if (Array.isArray(one["applications"])) return `${one["applications"].length} applications at once${hosts}`;
  return `an uploaded program${hosts}`;
}

function NoJobs({ filtered }: { filtered: boolean }) {
  if (filtered) return <Empty title="No jobs match."><p><a href={href(["jobs"])}>Show all jobs</a></p></Empty>;
  return (
    <Empty title="There are no jobs yet.">
      <p>A job tunes an application and the network it runs on. <a href={href(["new"])}>Create the first one</a>, or hand one in with <code>hamtune submit job.yaml</code>.</p>
    </Empty>
  );
}

/** The curves of the jobs on show; those that change are asked for again when they have moved. */
function useCurves(jobs: Job[]): Map<string, Curve> {
  const [curves, setCurves] = useState(new Map<string, Curve>());
  const [seen] = useState(new Map<string, number>());
  useEffect(() => {
    const moved = jobs.filter((job) => job.progress.finished > 0 && seen.get(job.id) !== job.progress.finished);
    if (!moved.length) return;
    moved.forEach((job) => seen.set(job.id, job.progress.finished));
    const batches: Job[][] = [];
    for (let i = 0; i < moved.length; i += LIMIT) batches.push(moved.slice(i, i + LIMIT));
    void Promise.all(batches.map(async (batch) => {
      const query = new URLSearchParams(batch.map((job) => ["job", job.id]));
      try {
        const { items } = await get<{ items: Curve[] }>(`/curves?${query}`);
        setCurves((old) => new Map([...old, ...items.map((curve) => [curve.job_id, curve] as const)]));
      } catch {
        batch.forEach((job) => seen.delete(job.id)); // asked for again with the next look
      }
    }));
  }, [jobs]);
  return curves;
}
