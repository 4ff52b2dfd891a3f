// One job: its state and what can be done with it, and tabs for what is known of it.
import type { ComponentChildren } from "preact";
import { tabOf, TABS, type Tab } from "../lib/tabs.ts";
import { useState } from "preact/hooks";
import { patch, post, put, type Problem } from "../lib/api.ts";
import { deleteJob, remember } from "../lib/deletion.ts";
import { asProblem, useFollowed } from "../lib/hooks.ts";
import { failedTrials, inTheSpace, mostOf, otherTrials, searchTrials, spaceLimit } from "../lib/counts.ts";
import { clock, count, duration, hour, moment, plural, sentence, speedup } from "../lib/format.ts";
import { go, href, replace, type Route } from "../lib/router.ts";
import { slowerThan } from "../lib/slower.ts";
import { ACTIVE, ENDED, type Best, type Job } from "../lib/types.ts";
import type { Connection } from "../lib/sse.ts";
import { lazy } from "../ui/lazy.tsx";
import { Action, AnotherKey, Empty, Gain, Loading, Meter, State, Waiting } from "../ui/parts.tsx";
import { Absent, useDeleted, WasDeleted } from "./absent.tsx";
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
    return problem ? <Absent id={id} problem={problem} again={followed.restart} /> : <Loading what="the job" />;
  }
  const tab = tabOf(route.parts[2]);
  const picked = Number(route.query.get("trial")) || null;
  const pick = (number: number | null) =>
    replace(["jobs", id, tab], { trial: number === null ? null : String(number) });
  return (
    <article aria-labelledby="job-name">
      <Header job={job} followed={followed} />
      <Lost id={id} followed={followed} />
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
  const external = (job.spec["external"] ?? null) as "proposals" | "measurements" | null;
  const best = job.progress.best;
  const baseline = convergence ? Object.entries(convergence.baselines).sort((a, b) => a[1] - b[1])[0] : undefined;
  const ratio = best?.value && baseline ? baseline[1] / best.value : null;
  // The service says whether there is any: it is not asked where all goes well.
  const mayNeedAdvice = (ratio !== null && ratio < 1) || job.progress.failures.length > 0;
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
          if (confirm(`Cancel ${job.name} for good? Its finished trials are kept.`)) await act("cancel")();
        }} />}
        <a class="button" href={href(["new"], { clone: job.id })}>Clone</a>
        {!ENDED.includes(job.state) && <a class="button" href={href(["notifications"], { job: job.id })}>Notify me when it ends</a>}
        {(ENDED.includes(job.state) || job.state === "paused") && <Action label={job.archived_at === null ? "Archive" : "Restore"} work={async () => {
          await patch(`/jobs/${job.id}`, { archived: job.archived_at === null });
          followed.refresh();
        }} />}
        {(ENDED.includes(job.state) || job.state === "paused") && <Action label="Delete" kind="danger" work={async () => {
          const deletion = await deleteJob(job);
          if (!deletion) return;
          remember(deletion);
          go(["jobs"]);
        }} />}
        {!ENDED.includes(job.state) && <Turn job={job} onChange={followed.refresh} />}
      </div>
      <Description key={job.id} job={job} onChange={followed.refresh} />
      {job.error && <div class="notice bad" role="alert"><pre>{job.error}</pre>{inTheSpace(job) && <p>{inTheSpace(job)}</p>}</div>}
      <dl class="figures">
        <Figure name="Best">{best ? <>{duration(best.value)} <a class="sub" href={href(["jobs", job.id, "convergence"], { trial: String(best.trial) })}>trial {best.trial}</a></> : "–"}</Figure>
        <Figure name="Gain over best baseline"><Gain ratio={ratio} error={convergence?.error} {...(baseline ? { worse: slowerThan(job, baseline[0]) } : {})} />{baseline && <span class="sub">{baseline[0]}{ratio !== null && `, ${speedup(ratio)}`}</span>}</Figure>
        <Figure name="Trials"><Trials job={job} /></Figure>
        {external !== null && <Figure name="Script">{external === "measurements" ? "measures" : "proposes"}<span class="sub">{external === "measurements" ? "what the search asks" : "what is simulated"}</span></Figure>}
        <Figure name={external === "measurements" ? "Measured" : "Simulated"}>{plural(job.progress.evaluations, "evaluation")}<span class="sub">{clock(job.progress.cpu_seconds)} CPU</span></Figure>
        <Figure name="Elapsed">{job.active_seconds > 0 ? clock(job.active_seconds) : "–"}<span class="sub">{job.started_at ? `since ${moment(job.started_at)}` : "not started"}</span>{job.estimated_end !== null && !ENDED.includes(job.state) && <span class="sub">done by about {hour(job.estimated_end)}</span>}</Figure>
        {job.space && <Figure name="Search space">{count(job.space.size)}<span class="sub">configurations that differ, at most</span></Figure>}
      </dl>
      {best && mayNeedAdvice && <Advice job={job} />}
    </header>
  );
}

const ENDINGS: Record<string, string> = {
  trials: "all trials of the budget done", evaluations: "all evaluations of the budget done", wall_seconds: "ended at its wall-clock limit",
  cpu_seconds: "ended at its CPU limit", target: "reached its target", patience: "ended without further progress",
  until: "no further gain is likely", exhausted: "every configuration that differs was tried",
};

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
  const { most } = mostOf(job);
  const [figure, what] = searchTrials(job);
  const others = otherTrials(job);
  const ended = ENDED.includes(job.state);
  return (
    <>
      {figure} <span class="sub">{what}{others !== null && ` ${others}`}</span>
      {most !== null && !ended && <Meter share={(job.progress.kinds["search"] ?? 0) / most} label="Search trials" />}
      {[spaceLimit(job), failedTrials(job)].map((text) => text && <span key={text} class="sub">{text}</span>)}
      {ended && job.ended_because && <span class="sub">{ENDINGS[job.ended_because] ?? `ended: ${job.ended_because}`}</span>}
    </>
  );
}

/** What can be done about a best that is slower than a baseline. */
function Advice({ job }: { job: Job }) {
  const { data } = useFollowed<Best>(`/jobs/${job.id}/best`, job.progress.finished, 5_000);
  return <>{data?.advice.map((line) => <p key={line} class="quiet">{sentence(line)}.</p>)}</>;
}

function Live({ connection, state }: { connection: Connection; state: Job["state"] }) {
  if (connection === "live" && (ACTIVE.includes(state) || state === "paused")) return <span class="live"><span class="pulse" aria-hidden="true" />live</span>;
  return null;
}

function Lost({ id, followed }: { id: string; followed: Followed }) {
  const { connection, problem } = followed;
  const { job: deleted } = useDeleted(id, problem);
  if (deleted) return <WasDeleted job={deleted} again={followed.restart} />;
  if (connection === "refused") {
    return (
      <div class="notice bad" role="alert">
        <p><b>{problem?.refused ? "You are no longer allowed to watch this job." : "This job can no longer be watched."}</b> {problem?.message}. What is shown is what was known until then.</p>
        {problem?.refused && <AnotherKey />}
      </div>
    );
  }
  if (connection !== "lost") return null;
  return <div class="notice warn" role="status"><p>The service does not answer. What is shown may be out of date; the page carries on by itself when the service is back.</p></div>;
}

function NoTrials({ job }: { job: Job }) {
  const why: Partial<Record<Job["state"], string>> = {
    queued: "The job is waiting for a coordinator.",
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
