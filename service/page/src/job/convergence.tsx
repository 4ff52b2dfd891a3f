// The first tab: the curve, and the trials as a list that can be read, sorted and filtered.
import { useMemo, useState } from "preact/hooks";
import { ConvergenceChart } from "./chart.tsx";
import { Action, Section } from "../ui/parts.tsx";
import { download } from "../lib/api.ts";
import { duration, gain } from "../lib/format.ts";
import { href } from "../lib/router.ts";
import type { Convergence, Row } from "../lib/table.ts";
import type { Catalogue, Job } from "../lib/types.ts";
import { useIdle, useResource } from "../lib/hooks.ts";

const PAGE = 50;
const FIRST = 12; // rows that are seen at first; the rest follow when there is time

export function ConvergenceTab({ job, convergence, pick, picked }: {
  job: Job; convergence: Convergence; pick: (number: number) => void; picked: number | null;
}) {
  return (
    <>
      <Section title="Convergence" aside={<a href={href(["compare"], { jobs: job.id })}>Compare with other jobs</a>}>
        <ConvergenceChart convergence={convergence} pick={pick} picked={picked} />
      </Section>
      <Section title="Trials" aside={<Downloads job={job} />}>
        <Trials convergence={convergence} pick={pick} picked={picked} />
      </Section>
    </>
  );
}

function Downloads({ job }: { job: Job }) {
  const idle = useIdle();
  const { data } = useResource<Catalogue>(idle ? "/catalogue" : null);
  return <>{data?.tables.map(({ name }) => <Action key={name} label={name} kind="small" work={() => download(`/jobs/${job.id}/table/${name}`, `${job.id}-trials`)} />)}</>;
}

type Order = "number" | "value";

export function Trials({ convergence, pick, picked }: { convergence: Convergence; pick: (number: number) => void; picked: number | null }) {
  const [order, setOrder] = useState<Order>("number");
  const [state, setState] = useState("");
  const [from, setFrom] = useState(0);
  const shown = useMemo(() => {
    const rows = convergence.rows.filter((row) => !state || (state === "cached" ? row.cached : row.state === state));
    if (order === "number") return rows.slice().reverse();
    return rows.slice().sort((a, b) => rank(a) - rank(b) || a.number - b.number);
  }, [convergence, order, state]);
  const states = [...new Set(convergence.rows.map((row) => row.state))].sort();
  const start = Math.min(from, Math.max(0, shown.length - 1));
  const visible = shown.slice(start, start + (useIdle() ? PAGE : FIRST));
  return (
    <>
      <div class="controls">
        <label>Order <select value={order} onChange={(e) => { setOrder(e.currentTarget.value as Order); setFrom(0); }}>
          <option value="number">newest first</option><option value="value">fastest first</option>
        </select></label>
        <label>Show <select value={state} onChange={(e) => { setState(e.currentTarget.value); setFrom(0); }}>
          <option value="">all</option>
          {states.map((name) => <option key={name} value={name}>{name}</option>)}
          {convergence.rows.some((row) => row.cached) && <option value="cached">cached</option>}
        </select></label>
        <span class="quiet">{convergence.rows.length < convergence.total ? `${convergence.rows.length} of ${convergence.total} trials, an even sample` : `${shown.length} trials`}</span>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Trials">
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
      {shown.length > PAGE && (
        <nav class="pager" aria-label="Pages of trials">
          <button type="button" disabled={start === 0} onClick={() => setFrom(Math.max(0, start - PAGE))}>Before</button>
          <span>{start + 1}–{Math.min(start + PAGE, shown.length)} of {shown.length}</span>
          <button type="button" disabled={start + PAGE >= shown.length} onClick={() => setFrom(start + PAGE)}>Next</button>
        </nav>
      )}
    </>
  );
}

function rank(row: Row): number {
  return row.state === "completed" && row.value !== null ? row.value : row.value !== null ? 1e30 + row.value : Infinity;
}

/** Names of parameters without their group, which is plain from the others. */
export function short(name: string): string {
  return name.replace(/^collectives\./, "").replace(/^mapping-options\./, "");
}

function cut(value: unknown): string {
  if (value === undefined) return "";
  const text = String(value);
  return text.length > 28 ? `${text.slice(0, 26)}…` : text;
}

