// Small pieces that every view uses: states of being, badges, buttons that work and say so.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Problem } from "../lib/api.ts";
import { copy } from "../lib/clipboard.ts";
import { asProblem } from "../lib/hooks.ts";
import { gain, plural } from "../lib/format.ts";
import type { Job } from "../lib/types.ts";

export function Loading({ what }: { what: string }) {
  return <p class="quiet" role="status" aria-busy="true"><span class="spinner" aria-hidden="true" /> Loading {what} …</p>;
}

export function Failure({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{problem.refused ? `You are not allowed to see this: ${problem.message}` : problem.message}</p>
      {problem.refused && <AnotherKey />}
      {retry && <button type="button" onClick={retry}>Try again</button>}
    </div>
  );
}

/** Opens the dialog of the key, which lies in the frame around every view. */
export function AnotherKey() {
  return <button type="button" onClick={() => window.dispatchEvent(new Event("keywanted"))}>Enter another key</button>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><p class="empty-title">{title}</p>{children}</div>;
}

export function State({ state }: { state: string }) {
  return <span class={`badge state-${state}`}>{state}</span>;
}

/** What a job waits for, in small print: its turn, or whoever paused it. */
export function Waiting({ job }: { job: Pick<Job, "state" | "priority" | "queue_position" | "paused_because"> }) {
  const said = [
    job.priority === "normal" ? null : `${job.priority} priority`,
    job.queue_position === null ? null : job.queue_position === 0 ? "next in the queue" : `${plural(job.queue_position, "job")} ahead of it`,
    ["paused", "pausing"].includes(job.state) ? job.paused_because : null,
  ].filter((text) => text);
  return said.length ? <span class="sub">{said.join("; ")}</span> : null;
}

/** A gain; one below the relative error of the network model is none. What is said of a loss is `worse`. */
export function Gain({ ratio, error, worse }: { ratio: number | null | undefined; error?: number | null | undefined; worse?: string }) {
  if (ratio === null || ratio === undefined) return <span class="quiet">–</span>;
  if (error && Math.max(ratio, 1 / ratio) <= 1 + error)
    return <span class="gain" title={`${gain(ratio)} is within the error of the model`}>none (±{(100 * error).toPrecision(2)}%)</span>;
  if (ratio >= 1) return <span class="gain good">{gain(ratio)}</span>;
  return <><span class="gain worse">{gain(ratio)}</span>{worse && <span class="sub why">{worse}</span>}</>;
}

export function Meter({ share, label }: { share: number | null; label: string }) {
  const percent = share === null ? 0 : Math.round(Math.max(0, Math.min(1, share)) * 100);
  return (
    <span class="meter" role="progressbar" aria-label={label} aria-valuemin={0} aria-valuemax={100}
      {...(share === null ? {} : { "aria-valuenow": percent })}>
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}

/** A button whose work takes a moment and may fail; the failure stands beside it. */
export function Action({ label, work, kind, disabled }: {
  label: string; work: () => Promise<unknown>; kind?: string; disabled?: boolean;
}) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  async function run() {
    setBusy(true);
    setProblem(null);
    try {
      await work();
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  }
  return (
    <span class="action">
      <button type="button" class={kind ?? ""} disabled={busy || disabled} aria-busy={busy} onClick={() => void run()}>{label}</button>
      {problem && <span class="problem" role="alert">{problem.message}</span>}
    </span>
  );
}

export function Section({ title, children, aside, id }: {
  title: string; children: ComponentChildren; aside?: ComponentChildren; id?: string;
}) {
  return (
    <section class="panel" aria-label={title} {...(id ? { id } : {})}>
      <div class="panel-head"><h2>{title}</h2>{aside && <div class="panel-aside">{aside}</div>}</div>
      {children}
    </section>
  );
}

export function Copy({ text }: { text: string }) {
  const [done, setDone] = useState(false);
  return (
    <Action label={done ? "Copied" : "Copy"} kind="small" work={async () => {
      await copy(text);
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    }} />
  );
}
