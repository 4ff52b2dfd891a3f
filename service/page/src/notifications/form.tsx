// A new subscription: who is to be told of what.
import { useState } from "preact/hooks";
import { errorsAt, Field } from "../create/field.tsx";
import { post, type Problem } from "../lib/api.ts";
import { asProblem } from "../lib/hooks.ts";
import type { Job, JobNews, NewSubscription, Subscriptions } from "../lib/types.ts";
import { AnotherKey, Section } from "../ui/parts.tsx";
import { documentOf, EVENTS, INITIAL, targets, type SubscriptionForm } from "./subscription.ts";

export function NewSubscriptionForm({ job, jobs, mail, made }: {
  job: string; jobs: Job[]; mail: Pick<Subscriptions, "email" | "email_domains">; made: (subscription: NewSubscription) => void;
}) {
  const [form, setForm] = useState<SubscriptionForm>({ ...INITIAL, job });
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const errors = problem?.fields ?? [];
  const change = (part: Partial<SubscriptionForm>) => { setProblem(null); setForm((old) => ({ ...old, ...part })); };
  const toggle = (event: JobNews) =>
    change({ events: form.events.includes(event) ? form.events.filter((one) => one !== event) : [...form.events, event] });
  async function subscribe(event: Event) {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      made(await post<NewSubscription>("/subscriptions", documentOf(form)));
      setForm((old) => ({ ...old, target: "", name: "" }));
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  }
  const wrongEvents = errorsAt(errors, "events");
  return (
    <Section title="New subscription">
      <form noValidate aria-label="New subscription" onSubmit={(event) => void subscribe(event)}>
        <div class="form-grid">
          <Field label="Webhook or e-mail address" errors={errorsAt(errors, "target")} hint={targets(mail)}>
            <input type="text" autocomplete="off" spellcheck={false} value={form.target} onInput={(event) => change({ target: event.currentTarget.value })} />
          </Field>
          <Field label="Of which job" errors={errorsAt(errors, "job_id")} hint={form.job ? "A job that has ended already is told of at once." : "Those to come as well."}>
            <select value={form.job} onChange={(event) => change({ job: event.currentTarget.value })}>
              <option value="">all jobs of the project</option>
              {jobs.map((one) => <option key={one.id} value={one.id}>{one.name} ({one.state})</option>)}
            </select>
          </Field>
          <Field label="Name" errors={errorsAt(errors, "name")} hint="For people; may be left empty.">
            <input type="text" value={form.name} onInput={(event) => change({ name: event.currentTarget.value })} />
          </Field>
        </div>
        <fieldset class="picks" {...(wrongEvents.length ? { "aria-describedby": "events-said" } : {})}>
          <legend>Told when a job</legend>
          <div class="picks-list">
            {EVENTS.map(([event, words]) => (
              <label key={event}><input type="checkbox" checked={form.events.includes(event)} onChange={() => toggle(event)} />{words}</label>
            ))}
          </div>
          {wrongEvents.length > 0 && <span id="events-said">{wrongEvents.map((one) => <span key={one.message} class="problem">{one.message}</span>)}</span>}
        </fieldset>
        {form.events.includes("incumbent") && (
          <div class="form-grid">
            <Field label="Seconds between two best configurations" errors={errorsAt(errors, "pause_seconds")} hint="At least, of one job. Of several within them the last is told.">
              <input type="text" inputMode="decimal" value={form.pause} onInput={(event) => change({ pause: event.currentTarget.value })} />
            </Field>
          </div>
        )}
        <div aria-live="polite">{problem && errors.length === 0 && (
          <div class="notice bad"><p>{problem.message} {problem.refused && <AnotherKey />}</p></div>
        )}</div>
        <p class="actions"><button type="submit" class="primary" disabled={busy} aria-busy={busy}>Subscribe</button></p>
      </form>
    </Section>
  );
}
