// How many trials a job has, in the same words everywhere: those of the search, which the budget
// limits, those that come on top, and of all of them together those that failed.
import { count, plural } from "./format.ts";
import { limitOf } from "./limits.ts";
import type { Job } from "./types.ts";

type Counted = Pick<Job, "spec" | "space" | "progress">;

/** How many trials the search can have, null without a limit, and whether the search space is what limits it. */
export function mostOf({ spec, space }: Pick<Counted, "spec" | "space">): { most: number | null; bySpace: boolean } {
  const budget = spec["budget"] as { trials?: number | null } | undefined;
  const trials = budget?.trials ?? null;
  if (trials === null || !space || space.size >= trials) return { most: trials, bySpace: false };
  return { most: space.size, bySpace: true };
}

/** How many trials the search has had, as a figure and what it counts. */
export function searchTrials(job: Counted): [figure: string, what: string] {
  const { most } = mostOf(job);
  const done = job.progress.kinds["search"] ?? 0;
  return [most === null ? count(done) : `${count(done)} of ${count(most)}`, (most ?? done) === 1 ? "search trial" : "search trials"];
}

/** Why there are fewer than the budget allows; null where there are not. */
export function spaceLimit(job: Counted): string | null {
  const { most, bySpace } = mostOf(job);
  if (!bySpace || most === null) return null;
  return `the search space has at most ${plural(most, "configuration")} that ${most === 1 ? "differs" : "differ"}, baselines in it among them`;
}

/** The trials that no budget of trials limits; null where there is none. */
export function otherTrials({ progress: { kinds } }: Pick<Counted, "progress">): string | null {
  const of = (kind: string) => kinds[kind] ?? 0;
  // Where baselines were estimated on a truncated trace, those on the whole one verify.
  const baselines = of("estimate") || of("baseline");
  const verified = of("verification") + (of("estimate") ? of("baseline") : 0);
  const others = [
    baselines ? plural(baselines, "baseline") : "",
    of("refinement") ? `${count(of("refinement"))} refined` : "",
    verified ? `${count(verified)} verified` : "",
    of("comparison") ? `${count(of("comparison"))} compared by fluid` : "",
  ].filter((text) => text);
  return others.length ? others.map((text) => `+ ${text}`).join(" ") : null;
}

/** How many of all trials failed, and the commonest reason; null where none did. */
export function failedTrials(job: Counted): string | null {
  const [commonest] = job.progress.failures;
  if (!commonest) return null;
  const failed = job.progress.failures.reduce((sum, one) => sum + one.trials, 0);
  const limit = limitOf(job, commonest);
  const reason = limit === null ? commonest.message || commonest.kind : `stopped by ${limit}`;
  const share = commonest.trials < failed ? ` (${count(commonest.trials)} of them)` : "";
  return `${count(failed)} of ${allTrials(job.progress.finished)} failed: ${reason}${share}`;
}

/** Of the search and on top of it. */
export function allTrials(number: number): string {
  return `${plural(number, "trial")} in all`;
}

/** What the error of a job counts as trials of the search space; null where all are of the search. */
export function inTheSpace(job: Pick<Job, "state" | "progress">): string | null {
  const { failures, kinds } = job.progress;
  if (job.state !== "failed" || !failures.length || !(kinds["baseline"] ?? kinds["estimate"])) return null;
  return "Trials of the search space are the search trials and the baselines that lie in it.";
}
