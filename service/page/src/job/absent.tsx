// The address of a job that is not there: one that was deleted says so, and can be restored.
import type { Problem } from "../lib/api.ts";
import { restoreJob } from "../lib/deletion.ts";
import { moment } from "../lib/format.ts";
import { useResource } from "../lib/hooks.ts";
import { deletedPath } from "../lib/paths.ts";
import { href } from "../lib/router.ts";
import type { Job, Page } from "../lib/types.ts";
import { Action, Failure, Loading, State } from "../ui/parts.tsx";

/** A view of what cannot be shown; `again` begins anew. */
export function Absent({ id, problem, again }: { id: string; problem: Problem; again: () => void }) {
  const { job, isLooking } = useDeleted(id, problem);
  if (isLooking) return <Loading what="the job" />;
  if (!job) return <Failure problem={problem} retry={again} />;
  return (
    <article aria-labelledby="job-name">
      <div class="job-title"><h1 id="job-name">{job.name}</h1><State state={job.state} /></div>
      <WasDeleted job={job} again={again} />
    </article>
  );
}

/** What is said of a deleted job, with the way back. */
export function WasDeleted({ job, again }: { job: Job; again: () => void }) {
  return (
    <div class="notice warn" role="status">
      <p>This job was deleted on {moment(job.deleted_at)}. It can be restored with its trials until {moment(job.restorable_until)}.</p>
      <p class="actions">
        <Action label="Restore" kind="primary" work={async () => { await restoreJob(job.id); again(); }} />
        <a class="button" href={href(["jobs"], { state: "deleted" })}>All deleted jobs</a>
      </p>
    </div>
  );
}

/** The deleted job with an id, which is looked for where the service says that there is none. */
export function useDeleted(id: string, problem: Problem | null): { job: Job | null; isLooking: boolean } {
  const { data, loading } = useResource<Page<Job>>(problem?.status === 404 ? deletedPath(id) : null);
  return { job: data?.items.find((one) => one.id === id) ?? null, isLooking: loading };
}
