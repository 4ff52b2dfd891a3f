// What the form of a subscription says, and subscriptions and deliveries in words.
import { given, type Document } from "../create/document.ts";
import { clock, hour } from "../lib/format.ts";
import type { Delivery, JobNews, Subscription, Subscriptions } from "../lib/types.ts";

export interface SubscriptionForm {
  target: string;
  /** The id of a job; empty for all jobs. */
  job: string;
  events: JobNews[];
  /** Seconds, as typed. */
  pause: string;
  name: string;
}

export const INITIAL: SubscriptionForm = { target: "", job: "", events: ["completed", "failed", "cancelled"], pause: "60", name: "" };

/** Each event, as what a job does then. */
export const EVENTS: readonly (readonly [JobNews, string])[] = [
  ["completed", "completes"],
  ["failed", "fails"],
  ["cancelled", "is cancelled"],
  ["incumbent", "has a new best configuration"],
];

/** What is sent to the service, which says what is wrong with it. */
export function documentOf(form: SubscriptionForm): Document {
  return {
    target: form.target.trim(),
    ...(form.job ? { job_id: form.job } : {}),
    events: EVENTS.map(([event]) => event).filter((event) => form.events.includes(event)),
    ...(form.events.includes("incumbent") ? given("pause_seconds", form.pause) : {}),
    ...(form.name.trim() ? { name: form.name.trim() } : {}),
  };
}

/** What may be typed as the target: known before anything is. */
export function targets({ email, email_domains: domains }: Pick<Subscriptions, "email" | "email_domains">): string {
  if (!email) return "The URL of a webhook. This service sends no e-mail, since its operator has set no mail server.";
  return domains ? `The URL of a webhook, or an e-mail address at ${listed(domains)}.` : "The URL of a webhook, or an e-mail address.";
}

/** When a subscriber is told; `job` is what the job is called. */
export function purpose(subscription: Pick<Subscription, "events" | "pause_seconds">, job: string | null): string {
  const does = EVENTS.filter(([event]) => subscription.events.includes(event)).map(([, words]) => words);
  const told = `When ${job ?? "any job"} ${listed(does)}`;
  return subscription.events.includes("incumbent") ? `${told}; at most one best configuration in ${clock(subscription.pause_seconds)} per job` : told;
}

/** What came of a message, or when it is tried again. */
export function outcome(delivery: Pick<Delivery, "state" | "answer" | "tries" | "next_at">): string {
  if (delivery.state !== "waiting") return delivery.tries > 1 ? `${delivery.answer ?? ""} (try ${delivery.tries})` : delivery.answer ?? "";
  const next = delivery.next_at === null ? "" : `${delivery.tries ? "again" : "to be sent"} at ${hour(delivery.next_at)}`;
  return [delivery.answer, next].filter(Boolean).join("; ");
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
