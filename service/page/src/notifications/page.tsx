// Who is told of jobs by webhook or e-mail, and what was sent to them.
import { useState } from "preact/hooks";
import { useInterval, useResource } from "../lib/hooks.ts";
import { jobPath, jobsPath } from "../lib/paths.ts";
import type { Job, NewSubscription, Page, Subscriptions } from "../lib/types.ts";
import { Copy, Empty, Failure, Loading, Section } from "../ui/parts.tsx";
import { NewSubscriptionForm } from "./form.tsx";
import { SubscriptionItem } from "./list.tsx";

const MOST = 100; // subscriptions of a project
const PAUSE = 3_000;
const PAUSE_EACH = 200; // so that many subscriptions are no more requests a second

/** `job`: of which one the form is to be at first; empty for all. */
export function NotificationsPage({ job }: { job: string }) {
  const [made, setMade] = useState<NewSubscription | null>(null);
  const list = useResource<Subscriptions>(`/subscriptions?limit=${MOST}`);
  const newest = useResource<Page<Job>>(jobsPath("", "", null));
  const chosen = useResource<Job>(job ? jobPath(job) : null);
  const items = list.data?.items ?? [];
  const pause = Math.max(PAUSE, PAUSE_EACH * items.length);
  useInterval(list.reload, list.error?.refused ? null : pause);
  useInterval(newest.reload, newest.error?.refused ? null : pause);
  const jobs = newest.data?.items ?? [];
  const all = chosen.data && !jobs.some((one) => one.id === job) ? [chosen.data, ...jobs] : jobs;
  const settled = !newest.loading && !chosen.loading; // what is chosen has to be there to be shown
  const known = newest.data && settled ? new Map(all.map((one) => [one.id, one.name])) : null;
  return (
    <>
      <div class="page-head"><h1>Notifications</h1></div>
      <p class="quiet">A webhook or an e-mail address is told when a job ends and, if wanted, when it has a new best configuration.</p>
      {list.error && <Failure problem={list.error} retry={list.reload} />}
      {chosen.error && !chosen.error.refused && <Failure problem={chosen.error} />}
      {list.loading && <Loading what="the subscriptions" />}
      {list.data && settled && (
        <NewSubscriptionForm job={chosen.data?.id ?? ""} jobs={all} mail={list.data} made={(one) => { setMade(one); list.reload(); }} />
      )}
      <div role="status">{made && <Made made={made} close={() => setMade(null)} />}</div>
      {list.data && (
        <Section title="Subscriptions">
          {items.length === 0 ? <Empty title="Nobody is told of jobs yet." />
            : items.map((one) => (
              <SubscriptionItem key={one.id} subscription={one} known={known} pause={pause}
                onRemove={() => { if (made?.id === one.id) setMade(null); list.reload(); }} />
            ))}
        </Section>
      )}
    </>
  );
}

/** What was just made, with its secret, which the service never tells again. */
function Made({ made, close }: { made: NewSubscription; close: () => void }) {
  return (
    <div class="notice">
      <p><b>{made.target} is subscribed.</b> {made.secret
        ? "Messages to it are signed with this secret, which is not shown again:"
        : "Send a test to see whether mail arrives."}</p>
      {made.secret && <p><code class="secret">{made.secret}</code> <Copy text={made.secret} /></p>}
      <p><button type="button" class="small" onClick={close}>{made.secret ? "I have kept it" : "Close"}</button></p>
    </div>
  );
}
