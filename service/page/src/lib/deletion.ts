// Deleting jobs and bringing them back.
import { get, post, remove } from "./api.ts";
import { allTrials } from "./counts.ts";
import type { Deletion, Job, Session } from "./types.ts";

let last: Deletion | null = null;

/** Delete a job; where that cannot be undone, once the user has said yes. Null where they said no. */
export async function deleteJob(job: Job, now = false): Promise<Deletion | null> {
  const kept = now ? 0 : (await get<Session>("/session")).keep_deleted_seconds;
  const why = now ? "" : ", for this service keeps no deleted jobs";
  const trials = allTrials(job.progress.finished);
  if (!kept && !confirm(`Delete ${job.name} with its ${trials} for good? This cannot be undone${why}.`)) return null;
  return await remove<Deletion>(`/jobs/${job.id}${now ? "?now=true" : ""}`);
}

export async function restoreJob(id: string): Promise<void> {
  await post<Job>(`/jobs/${id}/restore`);
}

/** What the next view has to tell of: a deletion leads to the list of jobs. */
export function remember(deletion: Deletion): void { last = deletion; }

/** What was remembered, once. */
export function recall(): Deletion | null {
  const deletion = last;
  last = null;
  return deletion;
}
