import assert from "node:assert/strict";
import { test } from "node:test";
import { documentOf, INITIAL, outcome, purpose, targets } from "../src/notifications/subscription.ts";

test("the form is what the service is sent", () => {
  assert.deepEqual(documentOf({ ...INITIAL, target: " https://example.org/hook " }), {
    target: "https://example.org/hook", events: ["completed", "failed", "cancelled"],
  });
  assert.deepEqual(documentOf({ target: "ada@example.org", job: "abc", events: ["incumbent", "failed"], pause: "600", name: " Ada " }), {
    target: "ada@example.org", job_id: "abc", events: ["failed", "incumbent"], pause_seconds: 600, name: "Ada",
  });
});

test("what is no number is left to the service, which says so", () => {
  const wrong = documentOf({ ...INITIAL, events: ["incumbent"], pause: "often" });
  assert.equal(wrong["pause_seconds"], "often");
  assert.equal("pause_seconds" in documentOf({ ...INITIAL, events: ["incumbent"], pause: " " }), false);
  assert.equal("pause_seconds" in documentOf({ ...INITIAL, pause: "often" }), false); // of no incumbents
});

test("whether mail may be sent is said before an address is typed", () => {
  assert.match(targets({ email: false, email_domains: null }), /sends no e-mail/);
  assert.equal(targets({ email: true, email_domains: null }), "The URL of a webhook, or an e-mail address.");
  assert.match(targets({ email: true, email_domains: ["a.org", "b.org"] }), /an e-mail address at a\.org or b\.org\.$/);
});

test("a subscription says what it is for", () => {
  assert.equal(purpose({ events: ["completed", "failed", "cancelled"], pause_seconds: 60 }, null), "When any job completes, fails or is cancelled");
  assert.equal(purpose({ events: ["failed"], pause_seconds: 60 }, "cg-64"), "When cg-64 fails");
  assert.equal(
    purpose({ events: ["completed", "incumbent"], pause_seconds: 600 }, "cg-64"),
    "When cg-64 completes or has a new best configuration; at most one best configuration in 10 min per job",
  );
});

test("a message says what came of it, or when it is tried again", () => {
  assert.equal(outcome({ state: "sent", answer: "answered 204", tries: 1, next_at: null }), "answered 204");
  assert.equal(outcome({ state: "failed", answer: "answered 500", tries: 15, next_at: null }), "answered 500 (try 15)");
  const now = Date.now() / 1000;
  assert.match(outcome({ state: "waiting", answer: "answered 500", tries: 1, next_at: now }), /^answered 500; again at \d\d:\d\d$/);
  assert.match(outcome({ state: "waiting", answer: null, tries: 0, next_at: now }), /^to be sent at \d\d:\d\d$/);
});
