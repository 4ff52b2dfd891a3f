// Deleted jobs: the way back right after a deletion, and the rows of those that can be restored.
import { useState } from "preact/hooks";
import { deleteJob, recall, restoreJob } from "../lib/deletion.ts";
import { clock, duration, moment, plural } from "../lib/format.ts";
import { go } from "../lib/router.ts";
import type { Job } from "../lib/types.ts";
import { Trials } from "../job/page.tsx";
import { Action, State } from "../ui/parts.tsx";

const DAY = 86400;

export const DELETED_COLUMNS = ["Job", "State", "Trials", "Best", "Deleted", "What to do"];

/** What was deleted just now, for how long it can be undone, and the button that does so. */
export function JustDeleted() {
  const [shown, setShown] = useState(recall);
  if (!shown) return null;
  const { deleted_at: from, restorable_until: until } = shown;
  return (
    <div class="notice" role="status">
      <p><b>{shown.name}</b> {from === null || until === null ? "was deleted for good."
        : `was deleted. This can be undone for ${period(until - from)}, until ${moment(until)}.`}</p>
      <p class="actions">
        {until !== null && <Action label="Undo" kind="primary" work={() => restore(shown.id)} />}
        <button type="button" onClick={() => setShown(null)}>Dismiss</button>
      </p>
    </div>
  );
}

/** A deleted job in the list, with the day on which it goes for good. */
export function DeletedRow({ job, what, onDelete }: { job: Job; what: string; onDelete: () => void }) {
  return (
    <tr>
      <td data-label="Job"><span class="job-name">{job.name}</span><span class="sub">{what}</span></td>
      <td data-label="State"><State state={job.state} /></td>
      <td data-label="Trials"><Trials job={job} /></td>
      <td data-label="Best" class="num">{duration(job.progress.best?.value)}</td>
      <td data-label="Deleted" class="quiet">{moment(job.deleted_at)}<span class="sub">for good on {moment(job.restorable_until)}</span></td>
      <td data-label="What to do"><span class="actions">
        <Action label="Restore" work={() => restore(job.id)} />
        <Action label="Delete now" kind="danger" work={async () => { if (await deleteJob(job, true)) onDelete(); }} />
      </span></td>
    </tr>
  );
}

async function restore(id: string): Promise<void> {
  await restoreJob(id);
  go(["jobs", id]);
}

function period(seconds: number): string {
  const days = Math.round(seconds / DAY);
  return days > 0 ? plural(days, "day") : clock(seconds);
}
