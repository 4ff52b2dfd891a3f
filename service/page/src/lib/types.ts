// What the REST interface answers, as far as the page looks at it (see /api/v1/openapi.json).

export type JobState =
  | "queued" | "preparing" | "running" | "pausing" | "paused"
  | "completed" | "failed" | "cancelling" | "cancelled";

export type TrialState =
  | "pending" | "running" | "completed" | "censored" | "infeasible" | "failed" | "cancelled";

export type Scalar = string | number | boolean;
export type Json = null | Scalar | Json[] | { [name: string]: Json };
export type Configuration = { [name: string]: Json };

export interface BestSoFar { trial: number; value: number }

/** What the model of a search expected: of the best untried configuration, as parts of 1. */
export interface OutlookPoint { trial: number; probability: number; gain: number }
export interface Outlook { last: OutlookPoint | null; unknown: string | null; points: OutlookPoint[] }

export interface FailureReason { kind: string; message: string; trials: number }

export interface Progress {
  trials: Partial<Record<TrialState, number>>;
  finished: number;
  kinds: Partial<Record<string, number>>;
  evaluations: number;
  cpu_seconds: number;
  best: BestSoFar | null;
  failures: FailureReason[];
}

export interface Parameter {
  name: string;
  kind?: string;
  values?: Scalar[];
  size?: number;
  [detail: string]: Json | undefined;
}

export interface Excluded { parameter: string; value: Json; reason: string }

export interface Source { job: string; name: string; trials: number; weight?: number }

export interface Space {
  size: number;
  parameters: Parameter[];
  constraints?: string[];
  baselines?: string[];
  excluded?: Excluded[];
  learned_from?: Source[];
  [detail: string]: unknown;
}

export interface Job {
  id: string;
  name: string;
  state: JobState;
  spec: { [name: string]: Json };
  seed: number;
  application_id: string | null;
  space: Space | null;
  error: string | null;
  ended_because: string | null;
  priority: string;
  paused_because: string | null;
  note: string;
  tags: string[];
  archived_at: number | null;
  deleted_at: number | null;
  restorable_until: number | null;
  queue_position: number | null;
  estimated_end: number | null;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  active_seconds: number;
  progress: Progress;
}

/** A job that was deleted, and until when it can be restored; null where it is gone for good. */
export interface Deletion {
  id: string;
  name: string;
  deleted_at: number | null;
  restorable_until: number | null;
}

export interface Session { keep_deleted_seconds: number }

export interface Application {
  id: string;
  name: string;
  kind: string;
  state: "new" | "capturing" | "ready" | "failed";
  ranks: number;
  summary: { calls?: { [name: string]: number } };
  notes: string[];
  capture_progress: CaptureProgress | null;
}

export interface CaptureProgress {
  run: number;
  runs: number;
  operations: number;
  ranks_ended: number;
  ranks: number;
  simulated_seconds: number;
}

export interface OutputFile { path: string; bytes: number }

export interface OutputFiles { files: OutputFile[]; left_out: OutputFile[] }

export interface Page<T> { items: T[]; cursor: string | null }

export interface Coded { values: Scalar[]; codes: number[] }

export interface Columns {
  number: number[];
  value: (number | null)[];
  best: (number | null)[];
  wall_seconds: number[];
  cpu_seconds: number[];
  proximity: (number | null)[];
  started_at: number[];
  finished_at: (number | null)[];
  took_seconds: (number | null)[];
  cached: boolean[];
  inside: boolean[];
  state: Coded;
  kind: Coded;
  technique: Coded;
  label: Coded;
  worker: Coded;
  fidelity: Coded;
}

export interface Table {
  job_id: string;
  total: number;
  cursor: number;
  columns: Columns;
  parameters: (Coded & { name: string })[];
  open: { number: number; state: TrialState; worker: string | null; started_at: number | null }[];
  best: BestSoFar | null;
  initial: BestSoFar | null;
  baselines: Record<string, number>;
  gains: Record<string, number | null>;
  error: number;
  speedup: number | null;
  close: number;
  trials_to_reach: number | null;
  share: number | null;
}

export interface Curve {
  job_id: string;
  trial: number[];
  best: number[];
  wall_seconds: number[];
  cpu_seconds: number[];
  baseline: number | null;
  baseline_label: string | null;
  gain: number | null;
  /** Of the network model, relative: smaller gains are none. */
  error: number | null;
}

export interface Attempt {
  number: number;
  state: "dispatched" | "running" | "finished" | "lost";
  worker: string | null;
  dispatched_at: number;
  heartbeat_at: number | null;
  finished_at: number | null;
  simulated_time: number | null;
  share: number | null;
}

export interface Trial {
  number: number;
  kind: string;
  fidelity: string;
  label: string | null;
  state: TrialState;
  value: number | null;
  cutoff: number | null;
  cached: boolean;
  configuration: Configuration;
  configuration_sha256: string;
  technique: string | null;
  reason: { kind?: string; message?: string } | null;
  cpu_seconds: number | null;
  wall_seconds: number | null;
  peak_rss_bytes: number | null;
  worker: string | null;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  attempts: Attempt[];
  summary: Summary | null;
  result?: { rank_finish_times?: (number | null)[][]; link_loads?: number[][]; [k: string]: unknown } | null;
}

/** What an evaluation measured, in a few numbers; lists of thousands are not sent. */
export interface Summary {
  rank_finish_times: { ranks: number; quantiles: { [share: string]: number }; worst: { application: number; rank: number; seconds: number }[] } | null;
  link_loads: { cables: number; bytes: number; quantiles: { [share: string]: number }; worst: { cable: number; bytes: [number, number] }[] } | null;
}

export interface Replay {
  trial: number;
  state: TrialState;
  value: number | null;
  stored_state: TrialState;
  stored_value: number | null;
  verdict: "same" | "consistent" | "differs";
  difference: number | null;
  ranks_that_differ: number | null;
  cables_that_differ: number | null;
  reason: { [detail: string]: Json } | null;
  cpu_seconds: number | null;
  wall_seconds: number | null;
  peak_rss_bytes: number | null;
  simulator: string;
  rank_finish_times: (number | null)[][] | null;
  link_loads: number[][] | null;
  summary: Summary | null;
}

/** One of the best trials by both network models; `value` is by packets, which decided. */
export interface Comparison { trial: number; value: number; comparison: number; state: TrialState; fluid: number | null }

export interface Best {
  configuration: Configuration;
  value: number;
  trial: number;
  baseline: number | null;
  speedup: number | null;
  baselines: Record<string, number>;
  estimates: Record<string, number>;
  initial: number | null;
  network: "fluid" | "packets";
  /** The network model with what it rests on. */
  model: string;
  decided_by: "measured" | "packets" | "fluid" | "script";
  measured: { seconds: number; runs: number[]; default: number | null; gain: number | null; separated: boolean | null; cluster: string | null } | null;
  undecided: string | null;
  error: number;
  within_error: boolean | null;
  advice: string[];
  comparisons: Comparison[];
  note: string | null;
}

export interface FrontPoint {
  trial: number;
  label: string | null;
  value: number;
  cost: number;
  /** Watts. */
  power: number;
  /** Joules of the run. */
  energy: number;
  switches: number;
  cables: number;
  adapters: number;
  metres: number;
  diameter: number;
  network: string;
}

/** What no other completed trial beats in both time and price, the cheapest first. */
export interface Front {
  by: "cost" | "power" | "energy";
  points: FrontPoint[];
  others: FrontPoint[];
  baselines: FrontPoint[];
  hypervolume: number | null;
  share: number | null;
  note: string | null;
}

export interface MeasuredConfiguration {
  place: number;
  purpose: string;
  trial: number | null;
  label: string;
  simulated: number | null;
  state: string;
  runs: { state: string; seconds: number | null }[];
}

export interface MeasuredList {
  state: "open" | "decided" | "undecided" | null;
  because: string | null;
  cluster: string | null;
  decided: number | null;
  items: MeasuredConfiguration[];
}

export interface Importance {
  method: string;
  trials: number;
  available: number;
  censored: number;
  score: number | null;
  parameters: { name: string; importance: number; deviation: number }[];
  note: string | null;
}

/** Some trials, sorted and filtered by the service. */
export interface Rows {
  matching: number;
  columns: Columns;
  parameters: (Coded & { name: string })[];
}

/** Counts of all trials of a job, of which a table may be a sample. */
export interface Statistics {
  trials: number;
  states: Partial<Record<TrialState, number>>;
  cached: number;
  compared: number;
  workers: { worker: string | null; trials: number; evaluated: number; busy_seconds: number; longest_seconds: number }[];
  parameters: { name: string; different: number; values: { value: Scalar; trials: number; trial: number; seconds: number }[] }[];
}

export interface Drawing {
  hosts: number;
  switches: number;
  edges: [number, number, number][];
  places: [number, number][];
  names: string[];
  layout: string;
}

/** Bytes between hosts, some of them to a cell. */
export interface Heat { size: number; block: number; bytes: number[][] }

export interface Placement {
  trial: number;
  value: number | null;
  ranks: number;
  network: Drawing;
  rank_hosts: number[];
  loads: [number, number][] | null;
  load_bound: number | null;
  rank_times: (number | null)[];
  hops: { hops: number; pairs: number; bytes: number }[];
  /** Null for a network that is too large, as below. */
  hop_bytes: number | null;
  traffic: Heat;
  /** The same with the ranks in order. */
  before: Heat;
  before_hop_bytes: number | null;
  options: Record<string, string>;
  choices: { name: string; algorithm: string; words: string }[];
}

export interface ProgramField { name: string; description: string; required: boolean; default: Scalar | null; choices: string[] | null }
export interface Named { name: string; description: string }
export interface Catalogue {
  programs: (Named & { fields: ProgramField[] })[];
  topologies: (Named & { uses_degree: boolean; uses_seed: boolean; indirect: boolean })[];
  orderings: Named[];
  mappings: (Named & { uses_traffic: boolean })[];
  mpi: Named[];
  collectives: (Named & { algorithms: Named[] })[];
  exports: Named[];
  targets: (Named & { format: string })[];
  tables: Named[];
  /** What networks are built of where a machine says nothing of it. */
  parts: { switches: { radix: number; price: number; watts: number }[] } & Record<"cables" | "adapters" | "hosts" | "floor", Record<string, number>>;
  /** Bytes of the largest files that the service takes. */
  limits: { job_file: number; program: number; machine: number; xml: number };
  example: { [name: string]: Json };
}

export interface Checked {
  spec: { [name: string]: Json };
  space: Space | null;
  note: string | null;
  learned_from: { job: string; name: string }[];
  estimate: { seconds: number | null; trials: number | null; seconds_per_trial: number | null; note: string };
  network: Drawing | null;
  network_note: string | null;
}

export interface LogEvent {
  id: number;
  job_id: string;
  kind: "job" | "trial" | "message" | string;
  at: number;
  data: { number?: number; state?: string; [name: string]: unknown };
}

export type JobNews = "completed" | "failed" | "cancelled" | "incumbent";

export interface Subscription {
  id: string;
  kind: "webhook" | "email";
  /** The address, or the URL without its path. */
  target: string;
  name: string;
  job_id: string | null;
  events: JobNews[];
  pause_seconds: number;
  owner: string;
  created_at: number;
}

/** The secret is told this once. */
export interface NewSubscription extends Subscription { secret: string | null }

/** With what further ones may be to; null for mail to any domain. */
export interface Subscriptions extends Page<Subscription> { email: boolean; email_domains: string[] | null }

export interface Delivery {
  id: string;
  job_id: string | null;
  event: JobNews | "test";
  state: "waiting" | "sent" | "failed";
  tries: number;
  created_at: number;
  next_at: number | null;
  tried_at: number | null;
  answer: string | null;
}

export const ENDED: readonly JobState[] = ["completed", "failed", "cancelled"];
export const ACTIVE: readonly JobState[] = ["queued", "preparing", "running", "pausing", "cancelling"];
