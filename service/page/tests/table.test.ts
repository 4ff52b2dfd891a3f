import assert from "node:assert/strict";
import { test } from "node:test";
import { compared, judged, merge, searched, settledUpTo, thin, type Row } from "../src/lib/table.ts";
import type { Table } from "../src/lib/types.ts";

function table(values: (number | null)[], first = 1, open: number[] = []): Table {
  const n = values.length;
  const one = { values: ["x"], codes: values.map(() => 0) };
  let best: number | null = null;
  return {
    job_id: "j", total: n, cursor: 1,
    columns: {
      number: values.map((_, i) => first + i), value: values,
      best: values.map((value) => (best = value === null ? best : best === null ? value : Math.min(best, value))),
      wall_seconds: values.map((_, i) => i), cpu_seconds: values.map((_, i) => i), proximity: values.map(() => null),
      started_at: values.map(() => 0), finished_at: values.map(() => 1), took_seconds: values.map(() => 1), cached: values.map(() => false), inside: values.map(() => true),
      state: { values: ["completed", "failed"], codes: values.map((value) => (value === null ? 1 : 0)) },
      kind: { values: ["search"], codes: values.map(() => 0) }, technique: one, label: one, worker: one, fidelity: one,
    },
    parameters: [{ name: "mpi", values: ["a", "b"], codes: values.map((_, i) => (i % 2 ? 1 : -1)) }],
    open: open.map((number) => ({ number, state: "running", worker: null, started_at: null })),
    best: null, initial: null, baselines: {}, gains: {}, error: 0.05, speedup: null, close: 0.9, trials_to_reach: null, share: null,
  };
}

test("columns become rows", () => {
  const { rows } = merge(null, table([4, null, 2]), 0);
  assert.deepEqual(rows.map((row) => [row.number, row.value, row.best, row.state]), [[1, 4, 4, "completed"], [2, null, 4, "failed"], [3, 2, 2, "completed"]]);
  assert.deepEqual([...(rows[1]?.parameters ?? [])], [["mpi", "b"]]);
  assert.equal(rows[0]?.parameters.size, 0);
});

test("what another network model said is not drawn among the times of this one", () => {
  const last = table([4, 3, 1]);
  last.columns.kind = { values: ["search", "comparison"], codes: [0, 0, 1] };
  const { rows } = merge(null, last, 0);
  assert.deepEqual(judged(rows).map((row) => row.value), [4, 3]);
});

test("later answers replace what may have changed, and C(n) is of the best of all", () => {
  const first = merge(null, table([4, 3], 1, [3]), 0);
  assert.equal(first.rows[1]?.proximity, 1);
  assert.equal(settledUpTo(first), 2);
  const second = merge(first, table([2], 3), 2);
  assert.deepEqual(second.rows.map((row) => row.number), [1, 2, 3]);
  assert.deepEqual(second.rows.map((row) => row.proximity), [0, 0.5, 1]);
});

test("an open trial holds the cursor back", () => {
  assert.equal(settledUpTo(merge(null, table([4, 3, 2], 1, [2]), 0)), 1);
  assert.equal(settledUpTo(null), 0);
});

test("thinning keeps each improvement and both ends", () => {
  const values = Array.from({ length: 1000 }, (_, i) => (i % 100 === 37 ? 1000 - i : 5000));
  const { rows } = merge(null, table(values), 0);
  const thinned = thin(rows, 50);
  assert.ok(thinned.length <= 50);
  const steps = rows.filter((row, i) => i && row.best !== rows[i - 1]?.best);
  for (const step of steps) assert.ok(thinned.includes(step));
  assert.deepEqual([thinned[0], thinned.at(-1)], [rows[0], rows.at(-1)]);
});

test("thinning keeps each baseline, also those that are no step of the best", () => {
  const many = table(Array.from({ length: 1000 }, () => 5));
  many.columns.kind = { values: ["baseline", "search"], codes: many.columns.number.map((number) => (number <= 30 && number % 3 ? 0 : 1)) };
  const { rows } = merge(null, many, 0);
  const baselines = (among: Row[]) => among.filter((row) => row.kind === "baseline").map((row) => row.number);
  assert.equal(baselines(rows).length, 20);
  assert.deepEqual(baselines(thin(rows, 50)), baselines(rows));
  assert.equal(thin(rows, 50).length, 50);
});

test("parameters are told by trials of the search space whose times are of one trace", () => {
  const last = table([4, 3, 2, 1]);
  last.columns.kind = { values: ["baseline", "search", "verification"], codes: [0, 1, 1, 2] };
  last.columns.inside = [false, false, true, true];
  const { rows } = merge(null, last, 0);
  assert.deepEqual(searched(rows).map((row) => row.number), [2, 3, 4]);
  assert.deepEqual(compared(rows).map((row) => row.number), [3, 4]);
  last.columns.fidelity = { values: ["full", "low"], codes: [0, 1, 0, 0] };
  assert.deepEqual(compared(merge(null, last, 0).rows).map((row) => row.number), [2]); // the search is over a truncated trace
});
