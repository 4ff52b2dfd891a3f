// Which limit of a job file stopped an evaluation.
import { bytes, duration } from "./format.ts";
import type { Job } from "./types.ts";

/** Of `limits` in a job file, by the kind of the reason that a trial gives. */
const LIMITS: Record<string, { field: string; say: (value: number) => string }> = {
  wall: { field: "wall_seconds", say: duration },
  memory: { field: "memory", say: bytes },
};

/** The field with its value; null where none did. Comparisons have less time than `limits.wall_seconds`, by no field. */
export function limitOf(job: Pick<Job, "spec">, reason: { kind?: string }, kind = "search"): string | null {
  const limit = LIMITS[reason.kind ?? ""];
  if (!limit || (kind === "comparison" && reason.kind === "wall")) return null;
  const value = (job.spec["limits"] as Record<string, unknown> | null | undefined)?.[limit.field];
  return typeof value === "number" ? `limits.${limit.field} (${limit.say(value)})` : `limits.${limit.field}`;
}
