// One trial, beside what is looked at: what it was, how it differs from the best, how to have it again.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { downloadFor, post, request, save } from "../lib/api.ts";
import { figuresOf, reasonsOf } from "../lib/beside.ts";
import { bytes, cost, duration, gain, moment } from "../lib/format.ts";
import { useResource } from "../lib/hooks.ts";
import { limitOf } from "../lib/limits.ts";
import { logOf } from "../lib/log.ts";
import { flatten, replayOf } from "../lib/replay.ts";
import { href } from "../lib/router.ts";
import type { BestSoFar, Catalogue, Job, Json, Replay, Trial } from "../lib/types.ts";
import { useState } from "preact/hooks";
import { Action, Copy, Failure, Loading, State } from "../ui/parts.tsx";

export function TrialPanel({ job, number, best, close, pick }: {
  job: Job; number: number; best: BestSoFar | null; close: () => void; pick: (number: number) => void;
}) {
  const trial = useResource<Trial>(`/jobs/${job.id}/trials/${number}`);
  const [typed, setTyped] = useState(""); // kept as it is typed: a job at work paints the page anew meanwhile
  const [chosen, setChosen] = useState<number | null>(null); // to stand beside it, in the place of the best
  const beside = chosen ?? best?.trial ?? null;
  const other = useResource<Trial>(beside !== null && beside !== number ? `/jobs/${job.id}/trials/${beside}` : null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => { heading.current?.focus(); }, [number]);
  useEffect(() => {
    const key = (event: KeyboardEvent) => { if (event.key === "Escape") close(); };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  });
  return (
    <aside class="drawer" aria-label={`Trial ${number}`}>
      <div class="drawer-head">
        <h2 tabIndex={-1} ref={heading}>Trial {number}</h2>
        <span class="actions">
          <button type="button" class="small" disabled={number <= 1} aria-label="Previous trial" onClick={() => pick(number - 1)}>←</button>
          <button type="button" class="small" aria-label="Next trial" onClick={() => pick(number + 1)}>→</button>
          <button type="button" class="small" onClick={close}>Close</button>
        </span>
      </div>
      {trial.error ? <Failure problem={trial.error} retry={trial.reload} />
        : !trial.data ? <Loading what="the trial" />
        : <Details key={number} job={job} trial={trial.data} best={best}>
          <h3>Side by side</h3>
          <p><label>Beside trial <input class="number" type="number" min={1} value={typed} placeholder={best ? `${best.trial}, the best` : ""}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onChange={() => setChosen(Number(typed) >= 1 ? Math.floor(Number(typed)) : null)} /></label></p>
          {other.error && <Failure problem={other.error} />}
          {other.data && <Beside mine={trial.data} other={other.data} />}
          <Difference mine={trial.data} other={other.data} title={chosen === null ? "Best" : `Trial ${chosen}`} />
        </Details>}
    </aside>
  );
}

function Details({ job, trial, best, children }: { job: Job; trial: Trial; best: BestSoFar | null; children: ComponentChildren }) {
  const replay = replayOf(job, trial);
  const isBest = best?.trial === trial.number;
  const limit = trial.reason && limitOf(job, trial.reason, trial.kind);
  return (
    <>
      <p><State state={trial.state} /> {trial.cached && <span class="badge">cached</span>} {isBest && <span class="badge state-completed">best</span>} {trial.fidelity === "low" && <span class="badge">estimate</span>} {trial.kind === "comparison" && <span class="badge">by the fluid model</span>}</p>
      {trial.reason && <Reason job={job} trial={trial} reason={trial.reason} />}
      <dl class="pairs">
        <dt>Simulated time</dt>
        <dd>{trial.state === "censored" && "at least "}{duration(trial.value)}{!isBest && trial.kind !== "comparison" && trial.value && best ? ` (${gain(trial.value / best.value)} over the best)` : ""}</dd>
        {trial.cutoff !== null && <><dt>Cutoff</dt><dd>{duration(trial.cutoff)}</dd></>}
        <dt>Proposed by</dt><dd>{trial.technique ?? trial.label ?? trial.kind}</dd>
        <dt>Cost</dt><dd>{trial.cached ? "none: answered from the cache" : cost(trial)}</dd>
        <dt>Worker</dt><dd>{trial.worker ?? "–"}</dd>
        <dt>Finished</dt><dd>{moment(trial.finished_at)}</dd>
      </dl>
      {children}
      {trial.state === "completed" && <Export job={job} trial={trial} />}
      <h3>Replay</h3>
      <Again job={job} trial={trial} />
      <p class="quiet">{replay.command === null
        ? "The application was uploaded: give 'hamtune evaluate' its trace together with these files."
        : whatComes(trial, limit)}</p>
      {replay.command !== null && <pre class="command">{replay.command}</pre>}
      <p class="actions">
        {replay.command !== null && <Copy text={replay.command} />}
        {replay.files.map((file) => (
          <button key={file.name} type="button" class="small" onClick={() => save(new Blob([file.text], { type: "application/json" }), file.name)}>{file.name}</button>
        ))}
      </p>
      <p class="quiet">From the command line, on the service: <code>hamtune replay {job.id} {trial.number}</code></p>
      <h3>Log</h3>
      <pre class="log" tabIndex={0} aria-label="Log of the trial">{logOf(trial).join("\n")}</pre>
      <Log job={job} />
    </>
  );
}

/** Why it has no time, and the way out where a limit of the job file is why. */
function Reason({ job, trial, reason }: { job: Job; trial: Trial; reason: NonNullable<Trial["reason"]> }) {
  const limit = limitOf(job, reason, trial.kind);
  return (
    <div class="notice bad">
      <b>{limit === null ? (reason.kind ?? "Reason") : `Stopped by ${limit} of the job file`}</b>
      <pre>{reason.message}</pre>
      {limit !== null && <p>To let it run on, raise the limit in <a href={href(["new"], { clone: job.id })}>a clone of the job</a>.</p>}
    </div>
  );
}

/** What the command for the command line comes to; it has no cutoff, and limits of its own. */
function whatComes(trial: Trial, limit: string | null): string {
  if (trial.state === "completed") return "The simulator gives the same time again, to the last digit.";
  if (trial.state === "censored") return "Without its cutoff it runs to its end.";
  if (limit !== null) return "This command has limits of its own (--wall, --memory), so it may run to its end.";
  if (trial.reason?.kind === "killed") return "What killed it came from outside, so it may run to its end.";
  return trial.state === "failed" || trial.state === "infeasible" ? "It ends in the same way again." : "The trial has no outcome to compare with.";
}

function Export({ job, trial }: { job: Job; trial: Trial }) {
  const { data } = useResource<Catalogue>("/catalogue");
  const [format, setFormat] = useState("json");
  const [differs, setDiffers] = useState("");
  const known = data?.exports.find((one) => one.name === format);
  async function fetchIt() {
    setDiffers("");
    const headers = await downloadFor(`/jobs/${job.id}/exports/${format}`, { trial: trial.number }, `${job.id}-trial-${trial.number}-${format}.zip`);
    setDiffers(headers.get("Hamtune-Differs") ?? "");
  }
  return (
    <>
      <h3>Export</h3>
      <p class="actions">
        <label>Format <select value={format} onChange={(event) => { setFormat(event.currentTarget.value); setDiffers(""); }}>
          {data?.exports.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
        </select></label>
        <Action label="Export this trial" kind="small" work={fetchIt} />
      </p>
      <p class="differs" role="status">{differs && `${differs}.`}</p>
      {known && <p class="quiet small-text">{known.description.replace("the best configuration", "this configuration")}</p>}
    </>
  );
}

const VERDICTS: Record<Replay["verdict"], [string, string]> = {
  same: ["good", "The same result again"],
  consistent: ["good", "As expected: not below the bound at which it was stopped"],
  differs: ["worse", "Not the same"],
};

/** The service simulates it anew and says whether the same comes out. */
function Again({ job, trial }: { job: Job; trial: Trial }) {
  const [found, setFound] = useState<Replay | null>(null);
  const [busy, setBusy] = useState(false);
  async function run() {
    setFound(null);
    setBusy(true);
    try {
      setFound(await post<Replay>(`/jobs/${job.id}/trials/${trial.number}/replay`));
    } finally {
      setBusy(false);
    }
  }
  if (trial.state === "cancelled") return null;
  return (
    <>
      <p><Action label="Simulate again" kind="small" work={run} />{busy && <Loading what="what the simulator says" />}</p>
      <div role="status">{found && <Outcome found={found} />}</div>
    </>
  );
}

function Outcome({ found }: { found: Replay }) {
  const [kind, said] = VERDICTS[found.verdict];
  const ranks = found.summary?.rank_finish_times ?? null;
  const cables = found.summary?.link_loads ?? null;
  const some = (shown: number, of: number, what: string) => (shown < of ? `the ${what} ${shown} of ${of}` : "all");
  const unlike = (count: number | null, of: number) => (count === null ? "" : count ? ` (${count} of ${of} differ)` : " (all as before)");
  return (
    <>
      <p><b class={`gain ${kind}`}>{said}</b></p>
      <dl class="pairs">
        <dt>Before</dt><dd>{found.stored_state}{found.stored_value !== null && `, ${found.stored_state === "censored" ? "at least " : ""}${exact(found.stored_value)}`}</dd>
        <dt>Now</dt><dd>{found.state}{found.value !== null && `, ${exact(found.value)}`}{found.difference ? ` (${found.difference > 0 ? "+" : "−"}${Math.abs(100 * found.difference).toPrecision(3)} %)` : ""}</dd>
        {found.reason && <><dt>Reason</dt><dd>{String((found.reason as { message?: string }).message ?? "")}</dd></>}
        {ranks && <><dt>Ranks</dt><dd>finish from {duration(ranks.quantiles["0"] ?? null)} to {duration(ranks.quantiles["1"] ?? null)}{unlike(found.ranks_that_differ, ranks.ranks)}</dd></>}
        {cables && <><dt>Cables</dt><dd>{bytes(cables.bytes)} in all, at most {bytes(cables.quantiles["1"] ?? null)} one way{unlike(found.cables_that_differ, cables.cables)}</dd></>}
        <dt>Cost</dt><dd>{cost(found)}</dd>
        <dt>Simulator</dt><dd>{found.simulator}</dd>
      </dl>
      {ranks && <details class="more small-text"><summary>The last ranks and the busiest cables</summary>
        <pre class="log" tabIndex={0} aria-label="Finish times of ranks">{[`${some(ranks.worst.length, ranks.ranks, "last")}:`, ...ranks.worst.map((late) => `rank ${late.rank}: ${exact(late.seconds)}`)].join("\n")}</pre>
        {cables && <pre class="log" tabIndex={0} aria-label="Loads of cables">{[`${some(cables.worst.length, cables.cables, "busiest")}:`, ...cables.worst.map((busy) => `cable ${busy.cable}: ${busy.bytes[0]} and ${busy.bytes[1]} bytes`)].join("\n")}</pre>}
      </details>}
    </>
  );
}

/** All digits: whether two times are the same is what is asked. */
function exact(seconds: number): string {
  return `${seconds} s`;
}

/** What was measured of both, and what that says of the slower one. */
function Beside({ mine, other }: { mine: Trial; other: Trial }) {
  const figures = figuresOf(mine, other);
  const say = (trial: Trial, one: (typeof figures)[number], value: number | null) =>
    `${one.name === "Simulated time" && trial.state === "censored" ? "at least " : ""}${value === null ? "–" : one.say(value)}`;
  return (
    <>
      {reasonsOf(mine, other).map((reason) => <p key={reason}>{reason}</p>)}
      <table class="difference">
        <thead><tr><th scope="col">Measured</th><th scope="col">This trial</th><th scope="col">Trial {other.number}</th></tr></thead>
        <tbody>{figures.map((one) => (
          <tr key={one.name}><th scope="row">{one.name}</th><td>{say(mine, one, one.mine)}</td><td>{say(other, one, one.other)}</td></tr>
        ))}</tbody>
      </table>
    </>
  );
}

function Difference({ mine, other, title }: { mine: Trial; other: Trial | null; title: string }) {
  const own = flatten(mine.configuration);
  const theirs = other ? flatten(other.configuration) : null;
  const names = [...new Set([...own.keys(), ...(theirs?.keys() ?? [])])];
  return (
    <table class="difference">
      <thead><tr><th scope="col">Parameter</th><th scope="col">This trial</th>{theirs && <th scope="col">{title}</th>}</tr></thead>
      <tbody>
        {names.map((name) => {
          const differs = theirs !== null && shown(own.get(name)) !== shown(theirs.get(name));
          return (
            <tr key={name} class={differs ? "differs" : ""}>
              <th scope="row">{name}</th><td>{shown(own.get(name))}</td>
              {theirs && <td>{differs ? shown(theirs.get(name)) : <span class="quiet">same</span>}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function shown(value: Json | undefined): string {
  return value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);
}

function Log({ job }: { job: Job }) {
  const [text, setText] = useState<string | null>(null);
  const [which, setWhich] = useState("");
  const show = (log: string) => async () => {
    const response = await request(`/jobs/${job.id}/logs/${log}`);
    setText((await response.text()) || "(empty)");
    setWhich(log);
  };
  const application = job.spec["application"] as { [name: string]: Json } | undefined;
  if (!application || (!("id" in application) && !("source" in application))) return null;
  return (
    <>
      <h3>Logs of the program</h3>
      <p class="actions"><Action label="Build" kind="small" work={show("build")} /><Action label="Run" kind="small" work={show("run")} /></p>
      {text !== null && <pre class="log" tabIndex={0} aria-label={`Log of the ${which}`}>{text}</pre>}
    </>
  );
}
