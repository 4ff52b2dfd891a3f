// The trials of a job as the page keeps them: rows of a table that grows while the job runs.
import type { Coded, Columns, Scalar, Table, TrialState } from "./types.ts";

export interface Row {
  number: number;
  value: number | null;
  best: number | null;
  wall: number;
  cpu: number;
  proximity: number | null;
  started: number;
  finished: number | null;
  /** Seconds of its own evaluation. */
  took: number | null;
  cached: boolean;
  /** Whether it may be the best: a point of the search space, on the whole trace. */
  inside: boolean;
  state: TrialState;
  kind: string;
  technique: string | null;
  label: string | null;
  worker: string | null;
  fidelity: string;
  parameters: Map<string, Scalar>;
}

export interface Convergence extends Omit<Table, "columns" | "parameters"> {
  rows: Row[];
  names: string[]; // of the parameters
}

function cell(column: Coded, row: number): Scalar | null {
  const code = column.codes[row] ?? -1;
  return code < 0 ? null : (column.values[code] ?? null);
}

function text(column: Coded, row: number): string | null {
  const value = cell(column, row);
  return value === null ? null : String(value);
}

export function rowsOf(table: Pick<Table, "columns" | "parameters">): Row[] {
  const c: Columns = table.columns;
  return c.number.map((number, i) => {
    const parameters = new Map<string, Scalar>();
    for (const parameter of table.parameters) {
      const value = cell(parameter, i);
      if (value !== null) parameters.set(parameter.name, value);
    }
    return {
      number,
      value: c.value[i] ?? null,
      best: c.best[i] ?? null,
      wall: c.wall_seconds[i] ?? 0,
      cpu: c.cpu_seconds[i] ?? 0,
      proximity: c.proximity[i] ?? null,
      started: c.started_at[i] ?? 0,
      finished: c.finished_at[i] ?? null,
      took: c.took_seconds[i] ?? null,
      cached: c.cached[i] ?? false,
      inside: c.inside[i] ?? false,
      state: (text(c.state, i) ?? "completed") as TrialState,
      kind: text(c.kind, i) ?? "search",
      technique: text(c.technique, i),
      label: text(c.label, i),
      worker: text(c.worker, i),
      fidelity: text(c.fidelity, i) ?? "full",
      parameters,
    };
  });
}

/** Take in what the service answered to a question `after` a number: newer rows replace older. */
export function merge(convergence: Convergence | null, table: Table, after: number): Convergence {
  const kept = convergence ? convergence.rows.filter((row) => row.number <= after) : [];
  const rows = [...kept, ...rowsOf(table)];
  const names = [...new Set([...(convergence?.names ?? []), ...table.parameters.map((p) => p.name)])];
  const { columns: _columns, parameters: _parameters, ...rest } = table;
  // C(n) compares with the best of all, so it changes for every row when there is a new best.
  let lowest: number | null = null;
  for (const row of rows) {
    if (row.kind === "search" && row.state === "completed" && row.value !== null) {
      lowest = lowest === null ? row.value : Math.min(lowest, row.value);
    }
  }
  let least: number | null = null;
  for (const row of rows) {
    if (row.kind !== "search") continue;
    if (row.state === "completed" && row.value !== null) {
      least = least === null ? row.value : Math.min(least, row.value);
    }
    row.proximity = least === null || !lowest ? null : 1 - (least - lowest) / lowest;
  }
  return { ...rest, rows, names };
}

/** The trials that one network model judged: comparisons are told by the other one. */
export function judged(rows: Row[]): Row[] {
  return rows.filter((row) => row.kind !== "comparison");
}

/** The trials of the search space: no baselines that nobody may choose, no comparisons. */
export function searched(rows: Row[]): Row[] {
  return rows.filter((row) => row.inside || row.kind === "search" || row.kind === "refinement");
}

/** Those whose times are of one trace, as the service compares them: truncated, or else whole. */
export function compared(rows: Row[]): Row[] {
  const completed = rows.filter((row) => row.state === "completed" && row.value !== null);
  const truncated = completed.filter((row) => row.fidelity === "low" && (row.kind === "search" || row.kind === "refinement"));
  return truncated.length ? truncated : completed.filter((row) => row.inside);
}

/** Whether the service has more trials than are here. */
export function isSample(convergence: Pick<Convergence, "rows" | "total">): boolean {
  return convergence.rows.length < convergence.total;
}

/** The last number up to which nothing can change any more. */
export function settledUpTo(convergence: Convergence | null): number {
  if (!convergence) return 0;
  const firstOpen = Math.min(...convergence.open.map((trial) => trial.number), Infinity);
  const last = convergence.rows.at(-1)?.number ?? 0;
  return Math.min(last, firstOpen - 1);
}

/** Fewer rows of a long convergence, as the service thins: steps of the best and baselines stay, others evenly. */
export function thin(rows: Row[], most: number): Row[] {
  if (rows.length <= most) return rows;
  const needed = new Set([0, rows.length - 1]);
  let searched = Infinity; // a search over a truncated trace reaches nothing that may be the best
  rows.forEach((row, i) => {
    const value = row.kind === "search" && row.state === "completed" ? (row.value ?? Infinity) : Infinity;
    if (i && (row.best !== rows[i - 1]?.best || value < searched || row.kind === "baseline")) needed.add(i);
    searched = Math.min(searched, value);
  });
  const others = rows.map((_, i) => i).filter((i) => !needed.has(i));
  const wanted = Math.min(others.length, Math.max(0, most - needed.size));
  for (let turn = 0; turn < wanted; turn += 1) {
    needed.add(others[Math.floor(((2 * turn + 1) * others.length) / (2 * wanted))] ?? 0);
  }
  return [...needed].sort((a, b) => a - b).map((i) => rows[i] as Row);
}
