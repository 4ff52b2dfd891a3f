// One job: its state and what can be done with it, and tabs for what is known of it.
import type { ComponentChildren } from "preact";
import { tabOf, TABS, type Tab } from "./tabs.ts";
import { useState } from "preact/hooks";
import { patch, post, put, remove, type Problem } from "../lib/api.ts";
import { asProblem } from "../lib/hooks.ts";
import { clock, count, duration, hour, moment, plural, speedup } from "../lib/format.ts";
import { go, href, replace, type Route } from "../lib/router.ts";
import { ACTIVE, ENDED, type Job } from "../lib/types.ts";
import type { Connection } from "../lib/sse.ts";
import { lazy } from "../ui/lazy.tsx";
import { Action, AnotherKey, Empty, Failure, Gain, Loading, Meter, State, Waiting } from "../ui/parts.tsx";
import { ConvergenceTab } from "./convergence.tsx";
import { Description } from "./description.tsx";
import { useJob, type Followed } from "./follow.ts";

const BestTab = lazy("BestTab", "the best configuration");
const About = lazy("About", "the job file");
const SpaceTab = lazy("SpaceTab", "the parameters");
const WorkersTab = lazy("WorkersTab", "the timeline");
const ApplicationPart = lazy("ApplicationPart", "the application");
const TrialPanel = lazy("TrialPanel", "the trial");

export function JobPage({ id, route }: { id: string; route: Route }) {
  const followed = useJob(id);
  const { job, convergence, problem } = followed;
  if (!job) {
    return problem ? <Failure problem={problem} retry={followed.refresh} /> : <Loading what="the job" />;
  }
  const tab = tabOf(route.parts[2]);
  const picked = Number(route.query.get("trial")) || null;
  const pick = (number: number | null) =>
    replace(["jobs", id, tab], { trial: number === null ? null : String(number) });
  return (
    <article aria-labelledby="job-name">
      <Header job={job} followed={followed} />
      <Lost connection={followed.connection} followed={followed} />
      <nav class="tabs" aria-label="Views of the job">
        {TABS.map(([key, label]) => (
          <a key={key} href={href(["jobs", id, key])} {...(key === tab ? { "aria-current": "page" as const } : {})}>{label}</a>
        ))}
      </nav>
      <Body tab={tab}>
        {!convergence ? <Loading what="the trials" />
          : tab === "convergence" ? (convergence.total ? <ConvergenceTab job={job} convergence={convergence} pick={pick} picked={picked} /> : <NoTrials job={job} />)
          : tab === "space" ? (convergence.total ? <SpaceTab job={job} convergence={convergence} pick={pick} /> : <NoTrials job={job} />)
          : tab === "best" ? <BestTab job={job} convergence={convergence} />
          : tab === "workers" ? (convergence.total || convergence.open.length ? <WorkersTab job={job} convergence={convergence} pick={pick} /> : <NoTrials job={job} />)
          : <About job={job} />}
      </Body>
      {picked !== null && <TrialPanel job={job} number={picked} best={convergence?.best ?? null} close={() => pick(null)} pick={pick} />}
    </article>
  );
}

function Body({ tab, children }: { tab: Tab; children: ComponentChildren }) {
  return <div class="tab-body" key={tab}>{children}</div>;
}

function Header({ job, followed }: { job: Job; followed: Followed }) {
  const { convergence } = followed;
  const best = job.progress.best;
  const baseline = convergence ? Object.entries(convergence.baselines).sort((a, b) => a[1] - b[1])[0] : undefined;
  const ratio = best?.value && baseline ? baseline[1] / best.value : null;
  const act = (verb: string) => async () => {
    await post<Job>(`/jobs/${job.id}/${verb}`);
    followed.refresh();
  };
  return (
    <header class="job-head">
      <div class="job-title">
        <h1 id="job-name">{job.name}</h1>
        <State state={job.state} />
        <Waiting job={job} />
        {job.archived_at !== null && <span class="quiet">archived {moment(job.archived_at)}</span>}
        <Live connection={followed.connection} state={job.state} />
      </div>
      <div class="actions">
        {["queued", "preparing", "running"].includes(job.state) && <Action label="Pause" work={act("pause")} />}
        {["paused", "pausing"].includes(job.state) && <Action label="Resume" work={act("resume")} kind="primary" />}
        {!ENDED.includes(job.state) && job.state !== "cancelling" && <Action label="Cancel" kind="danger" work={async () => {
          if (confirm(`Cancel ${job.name} for good? Its finished trials stay.`)) await act("cancel")();
        }} />}
        <a class="button" href={href(["new"], { clone: job.id })}>Clone</a>
        {(ENDED.includes(job.state) || job.state === "paused") && <Action label={job.archived_at === null ? "Archive" : "Restore"} work={async () => {
          await patch(`/jobs/${job.id}`, { archived: job.archived_at === null });
          followed.refresh();
        }} />}
        {(ENDED.includes(job.state) || job.state === "paused") && <Action label="Delete" kind="danger" work={async () => {
          if (!confirm(`Delete ${job.name} with its ${plural(job.progress.finished, "trial")} for good?`)) return;
          await remove(`/jobs/${job.id}`);
          go(["jobs"]);
        }} />}
        {!ENDED.includes(job.state) && <Turn job={job} onChange={followed.refresh} />}
      </div>
      <Description key={job.id} job={job} onChange={followed.refresh} />
      {job.error && <div class="notice bad" role="alert"><pre>{job.error}</pre></div>}
      <dl class="figures">
        <Figure name="Best">{best ? <>{duration(best.value)} <a class="sub" href={href(["jobs", job.id, "convergence"], { trial: String(best.trial) })}>trial {best.trial}</a></> : "–"}</Figure>
        <Figure name="Gain over best baseline"><Gain ratio={ratio} error={convergence?.error} />{baseline && <span class="sub">{baseline[0]}{ratio !== null && `, ${speedup(ratio)}`}</span>}</Figure>
        <Figure name="Trials"><Trials job={job} /></Figure>
        <Figure name="Simulated">{plural(job.progress.evaluations, "evaluation")}<span class="sub">{clock(job.progress.cpu_seconds)} CPU</span></Figure>
        <Figure name="Elapsed">{clock(job.active_seconds)}<span class="sub">{job.started_at ? `since ${moment(job.started_at)}` : "not started"}</span>{job.estimated_end !== null && !ENDED.includes(job.state) && <span class="sub">until about {hour(job.estimated_end)}</span>}</Figure>
        {job.space && <Figure name="Search space">{count(job.space.size)}<span class="sub">configurations</span></Figure>}
      </dl>
    </header>
  );
}

const PRIORITIES = ["low", "normal", "high"];

/** Before or after others: a job may be let go ahead while it waits or is at work. */
function Turn({ job, onChange }: { job: Job; onChange: () => void }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  async function set(priority: string) {
    setProblem(null);
    try {
      await put<Job>(`/jobs/${job.id}/priority`, { priority });
    } catch (error) {
      setProblem(asProblem(error));
    }
    onChange();
  }
  return (
    <label class="turn">Priority <select value={job.priority} onChange={(event) => void set(event.currentTarget.value)}>
      {PRIORITIES.map((one) => <option key={one} value={one}>{one}</option>)}
    </select>{problem && <span class="problem" role="alert">{problem.message}</span>}</label>
  );
}

function Figure({ name, children }: { name: string; children: ComponentChildren }) {
  return <div class="figure"><dt>{name}</dt><dd>{children}</dd></div>;
}

export function Trials({ job }: { job: Job }) {
  const done = job.progress.kinds["search"] ?? 0;
  const budget = job.spec["budget"] as { trials?: number | null } | undefined;
  const limit = budget?.trials ?? null;
  const space = job.space?.size ?? null;
  const most = limit !== null && space !== null ? Math.min(limit, space) : limit;
  const ended = ENDED.includes(job.state);
  return (
    <>
      {count(done)}{most !== null && ` of ${count(most)}`}
      {most !== null && !ended && <Meter share={done / most} label="Trials of the budget" />}
      {ended && job.ended_because && <span class="sub">ended: {job.ended_because === "until" ? "no further gain is likely" : job.ended_because.replace("_", " ")}</span>}
    </>
  );
}

function Live({ connection, state }: { connection: Connection; state: Job["state"] }) {
  if (connection === "live" && (ACTIVE.includes(state) || state === "paused")) return <span class="live"><span class="pulse" aria-hidden="true" />live</span>;
  return null;
}

function Lost({ connection, followed }: { connection: Connection; followed: Followed }) {
  if (connection === "refused") {
    const { problem } = followed;
    return (
      <div class="notice bad" role="alert">
        <p><b>{problem?.refused ? "You may not watch this job any more." : "This job cannot be watched any more."}</b> {problem?.message}. What is shown is what was known before.</p>
        {problem?.refused && <AnotherKey />}
      </div>
    );
  }
  if (connection !== "lost") return null;
  return <div class="notice warn" role="status"><p>The service does not answer. What is shown may be old; the page goes on by itself when it is back.</p></div>;
}

function NoTrials({ job }: { job: Job }) {
  const why: Partial<Record<Job["state"], string>> = {
    queued: "The job waits for a coordinator.",
    preparing: "The application is being captured; trials follow.",
    running: "The first trials are being evaluated.",
    failed: "The job failed before its first trial had an outcome.",
    cancelled: "The job was cancelled before its first trial had an outcome.",
    paused: "The job was paused before its first trial had an outcome.",
  };
  return (
    <>
      <Empty title="No trial has an outcome yet."><p>{why[job.state] ?? ""}</p></Empty>
      {job.application_id && ["preparing", "failed"].includes(job.state) && <ApplicationPart id={job.application_id} />}
    </>
  );
}
