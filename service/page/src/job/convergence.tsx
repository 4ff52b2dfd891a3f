// The first tab: the curve, and the trials as a list that can be read, sorted and filtered.
import { useMemo, useRef, useState } from "preact/hooks";
import { ConvergenceChart } from "./chart.tsx";
import { OutlookPart } from "./outlook.tsx";
import { Action, Failure, Section } from "../ui/parts.tsx";
import { download, type Problem } from "../lib/api.ts";
import { allTrials } from "../lib/counts.ts";
import { count, duration, gain, plural, short } from "../lib/format.ts";
import { href } from "../lib/router.ts";
import { isSample, rowsOf, type Convergence, type Row } from "../lib/table.ts";
import type { Catalogue, Job, Rows as RowsAnswer, Statistics } from "../lib/types.ts";
import { useFollowed, useIdle, useResource } from "../lib/hooks.ts";

const PAGE = 50;
const FIRST = 12; // rows that are seen at first; the rest follow when there is time

export function ConvergenceTab({ job, convergence, pick, picked }: {
  job: Job; convergence: Convergence; pick: (number: number) => void; picked: number | null;
}) {
  const sampled = isSample(convergence);
  const { data: statistics, error, reload } = useFollowed<Statistics>(sampled ? `/jobs/${job.id}/statistics` : null, convergence.total);
  return (
    <>
      <Section title="Convergence" aside={<a href={href(["compare"], { jobs: job.id })}>Compare with other jobs</a>}>
        {sampled && <p class="quiet small-text" role="note">The chart shows {count(convergence.rows.length)} of {plural(convergence.total, "trial")}, an even sample with every improvement. The list below has them all.</p>}
        {error && <Failure problem={error} retry={reload} />}
        <ConvergenceChart name={job.name} convergence={convergence} statistics={statistics} pick={pick} picked={picked} />
        <OutlookPart job={job} trials={convergence.total} />
      </Section>
      <Section title="Trials" aside={<Downloads job={job} />}>
        <Trials job={job} convergence={convergence} statistics={statistics} pick={pick} picked={picked} />
      </Section>
    </>
  );
}

function Downloads({ job }: { job: Job }) {
  const idle = useIdle();
  const { data } = useResource<Catalogue>(idle ? "/catalogue" : null);
  return <>{data?.tables.map(({ name }) => <Action key={name} label={name} kind="small" work={() => download(`/jobs/${job.id}/table/${name}`, `${job.id}-trials`)} />)}</>;
}

type Order = "newest" | "fastest";

interface Page { matching: number; start: number; rows: Row[]; states: string[]; hasCached: boolean; waits: boolean; error: Problem | null; retry: () => void }

/** A page of trials: of the rows that are here, or by the service where these are a sample. */
function usePage(job: Job, convergence: Convergence, statistics: Statistics | null, order: Order, state: string, from: number): Page {
  const sampled = isSample(convergence);
  const filter = state === "cached" ? "&cached=true" : state && `&state=${state}`;
  const path = sampled ? `/jobs/${job.id}/rows?order=${order}${filter}&skip=${from}&limit=${PAGE}` : null;
  const answer = useFollowed<RowsAnswer>(path, convergence.total);
  const here = useMemo(() => {
    const rows = convergence.rows.filter((row) => !state || (state === "cached" ? row.cached : row.state === state));
    if (order === "newest") return rows.slice().reverse();
    return rows.slice().sort((a, b) => rank(a) - rank(b) || a.number - b.number);
  }, [convergence, order, state]);
  const last = useRef<{ data: RowsAnswer; from: number } | null>(null); // stays on show while another page is asked for
  if (answer.data) last.current = { data: answer.data, from };
  const shown = sampled ? last.current : null;
  const found = useMemo(() => (shown ? rowsOf(shown.data) : null), [shown?.data]);
  const start = Math.min(from, Math.max(0, here.length - 1));
  const seen = new Set<string>([...Object.keys(statistics?.states ?? {}), ...convergence.rows.map((row) => row.state)]);
  return {
    matching: shown?.data.matching ?? here.length, start: shown?.from ?? start, rows: found ?? here.slice(start, start + PAGE),
    states: [...seen].sort(), hasCached: statistics ? statistics.cached > 0 : convergence.rows.some((row) => row.cached),
    waits: sampled && !answer.data, error: answer.error, retry: answer.reload,
  };
}

export function Trials({ job, convergence, statistics, pick, picked }: {
  job: Job; convergence: Convergence; statistics: Statistics | null; pick: (number: number) => void; picked: number | null;
}) {
  const [order, setOrder] = useState<Order>("newest");
  const [state, setState] = useState("");
  const [from, setFrom] = useState(0);
  const { matching, start, rows, states, hasCached, waits, error, retry } = usePage(job, convergence, statistics, order, state, from);
  const visible = rows.slice(0, useIdle() ? PAGE : FIRST);
  return (
    <>
      <div class="controls">
        <label>Order <select value={order} onChange={(e) => { setOrder(e.currentTarget.value as Order); setFrom(0); }}>
          <option value="newest">newest first</option><option value="fastest">fastest first</option>
        </select></label>
        <label>Show <select value={state} onChange={(e) => { setState(e.currentTarget.value); setFrom(0); }}>
          <option value="">all</option>
          {states.map((name) => <option key={name} value={name}>{name}</option>)}
          {hasCached && <option value="cached">cached</option>}
        </select></label>
        <span class="quiet">{state === "" ? allTrials(matching) : plural(matching, "trial")}</span>
      </div>
      {error && <Failure problem={error} retry={retry} />}
      <div class="scroll" tabIndex={0} role="region" aria-label="Trials" aria-busy={waits}>
        <table class="trials">
          <thead><tr><th scope="col" class="num">Trial</th><th scope="col">State</th><th scope="col" class="num">Time</th><th scope="col" class="num">vs best</th><th scope="col">Proposed by</th>
            {convergence.names.map((name) => <th key={name} scope="col">{short(name)}</th>)}</tr></thead>
          <tbody>
            {visible.map((row) => (
              <tr key={row.number} class={row.number === picked ? "picked" : row.number === convergence.best?.trial ? "best" : ""}>
                <td class="num"><button type="button" class="link" onClick={() => pick(row.number)} aria-label={`Show trial ${row.number}`}>{row.number}</button></td>
                <td><span class={`trial-state ${row.state}`}>{row.state}</span>{row.cached && <span class="sub"> cached</span>}</td>
                <td class="num">{row.state === "censored" && "≥ "}{duration(row.value)}</td>
                <td class="num">{row.kind === "comparison" ? "by fluid" : row.value && convergence.best ? gain(row.value / convergence.best.value) : ""}</td>
                <td>{row.label ?? row.technique ?? row.kind}</td>
                {convergence.names.map((name) => <td key={name}>{cut(row.parameters.get(name))}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {matching > PAGE && (
        <nav class="pager" aria-label="Pages of trials">
          <button type="button" disabled={start === 0} onClick={() => setFrom(Math.max(0, start - PAGE))}>Previous</button>
          <span>{start + 1}–{Math.min(start + PAGE, matching)} of {count(matching)}</span>
          <button type="button" disabled={start + PAGE >= matching} onClick={() => setFrom(start + PAGE)}>Next</button>
        </nav>
      )}
    </>
  );
}

function rank(row: Row): number {
  return row.state === "completed" && row.value !== null ? row.value : row.value !== null ? 1e30 + row.value : Infinity;
}

function cut(value: unknown): string {
  if (value === undefined) return "";
  const text = String(value);
  return text.length > 28 ? `${text.slice(0, 26)}…` : text;
}

