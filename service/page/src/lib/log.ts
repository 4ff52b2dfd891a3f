// What happened to a trial, as lines in the order of time.
import { clock, duration, instant } from "./format.ts";
import type { Trial } from "./types.ts";

export function logOf(trial: Trial): string[] {
  const lines: [number, string][] = [[trial.created_at, `asked${trial.technique ? ` by ${trial.technique}` : trial.label ? ` as the baseline ${trial.label}` : ` as ${trial.kind}`}`]];
  for (const one of trial.attempts) {
    const worker = one.worker ?? "a worker";
    lines.push([one.dispatched_at, `attempt ${one.number}: offered to workers`]);
    if (one.state === "running") lines.push([one.heartbeat_at ?? one.dispatched_at, `attempt ${one.number}: at work on ${worker}, last heard of now${one.share === null ? "" : `: ${(100 * one.share).toFixed(0)} % of the calls, ${duration(one.simulated_time)} simulated`}`]);
    if (one.finished_at !== null) {
      const last = one.state === "lost" && one.heartbeat_at !== null ? `, which was last heard of ${clock(one.finished_at - one.heartbeat_at)} before` : "";
      lines.push([one.finished_at, `attempt ${one.number}: ${one.state === "lost" ? "given up" : "finished"} on ${worker}${last}`]);
    }
  }
  if (trial.started_at !== null && trial.attempts.length) lines.push([trial.started_at, `taken by ${trial.worker ?? "a worker"}`]);
  if (trial.finished_at !== null) lines.push([trial.finished_at, `${trial.state}${trial.value === null ? "" : `, ${trial.state === "censored" ? "at least " : ""}${duration(trial.value)}`}${trial.cached ? ", answered by the cache" : ""}`]);
  const said = lines.sort((a, b) => a[0] - b[0]).map(([at, text]) => `${instant(at)}  ${text}`);
  return trial.reason?.message ? [...said, "", trial.reason.message] : said;
}
