// What is said of a best that is slower than a baseline.
import type { Job } from "./types.ts";

/** In a few words; the advice of the best configuration says what to do about it. */
export function slowerThan(job: Pick<Job, "spec">, label: string | null): string {
  if (label === null) return "the best is slower than the best baseline";
  return `the best is slower than the baseline ${label}${isOutside(job, label) ? ", which is not in the search space" : ""}`;
}

/** Whether a baseline is a family of networks that the search may not choose; others name an MPI library as well. */
function isOutside(job: Pick<Job, "spec">, label: string): boolean {
  const search = job.spec["search"] as { topology?: (string | { family?: string })[] | null } | undefined;
  const chosen = search?.topology?.length ? search.topology : ["given"];
  return !label.includes(" ") && !chosen.some((one) => (typeof one === "string" ? one : one.family) === label);
}
