// A subscription: what it is for, what was sent to it lately, and what can be done with it.
import { useState } from "preact/hooks";
import { post, remove } from "../lib/api.ts";
import { hour, moment } from "../lib/format.ts";
import { useInterval, useResource } from "../lib/hooks.ts";
import { href } from "../lib/router.ts";
import type { Delivery, Page, Subscription } from "../lib/types.ts";
import { Action, Failure, Loading, State } from "../ui/parts.tsx";
import { called, useNames, type Names } from "./names.ts";
import { outcome, purpose } from "./subscription.ts";

const LAST = 5;

/** `known`: names of the newest jobs, once they are there; `pause`: milliseconds between two looks at what was sent. */
export function SubscriptionItem({ subscription, known, pause, onRemove }: {
  subscription: Subscription; known: Names | null; pause: number; onRemove: () => void;
}) {
  const { id, target, job_id: job } = subscription;
  const [told, setTold] = useState<Delivery | null>(null);
  const deliveries = useResource<Page<Delivery>>(`/subscriptions/${id}/deliveries?limit=${LAST}`);
  const names = useNames([job, ...(deliveries.data?.items.map((one) => one.job_id) ?? [])].filter((one) => one !== null), known);
  const about = job ? called(job, names) : null;
  // Who was refused would be refused again.
  useInterval(deliveries.reload, deliveries.error?.refused ? null : pause);
  async function test() {
    setTold(null);
    setTold(await post<Delivery>(`/subscriptions/${id}/test`));
    deliveries.reload();
  }
  async function end() {
    if (!confirm(`Remove the subscription of ${subscription.name || target}? What was not sent yet is not sent any more.`)) return;
    await remove(`/subscriptions/${id}`);
    onRemove();
  }
  return (
    <article class="subscription" aria-label={`${subscription.kind} ${target}`}>
      <div class="panel-head">
        <h3>{target}</h3>
        <span class="actions"><Action label="Send a test" kind="small" work={test} /><Action label="Remove" kind="small danger" work={end} /></span>
      </div>
      <p>{purpose(subscription, about && (about.shown ? about.name : `a ${about.name}`))}
        {job && about?.shown && <>. <a href={href(["jobs", job])}>Show the job</a></>}
        <span class="sub">{[subscription.name, subscription.kind === "email" ? "e-mail" : "webhook", `by ${subscription.owner}`, `since ${moment(subscription.created_at)}`].filter(Boolean).join(", ")}</span>
      </p>
      <p role="status" class="tested">{told && <>Test <State state={told.state} /> {told.answer}</>}</p>
      {deliveries.error ? <Failure problem={deliveries.error} retry={deliveries.reload} />
        : !deliveries.data ? <Loading what="what was sent" />
        : deliveries.data.items.length === 0 ? <p class="quiet">Nothing was sent yet.</p>
        : <Deliveries of={target} items={deliveries.data.items} names={names} />}
      {deliveries.data?.cursor && <p class="quiet small-text">Older ones: <code>hamtune notify log {id}</code></p>}
    </article>
  );
}

function Deliveries({ of, items, names }: { of: string; items: Delivery[]; names: Names }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Last messages to ${of}`}>
      <table class="deliveries">
        <thead><tr><th scope="col">Event</th><th scope="col">Job</th><th scope="col">State</th><th scope="col">Answer</th><th scope="col">When</th></tr></thead>
        <tbody>{items.map((one) => (
          <tr key={one.id}>
            <td>{one.event === "incumbent" ? "new best" : one.event}</td>
            <td>{one.job_id ? <About id={one.job_id} names={names} /> : "–"}</td>
            <td><State state={one.state} /></td>
            <td>{outcome(one)}</td>
            <td class="quiet">{hour(one.tried_at ?? one.created_at)}</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

/** The job that a message is about; of a deleted one there is no page. */
function About({ id, names }: { id: string; names: Names }) {
  const { name, shown } = called(id, names);
  return shown ? <a href={href(["jobs", id])}>{name}</a> : <>{name}</>;
}
