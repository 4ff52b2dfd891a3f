import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../src/lib/address.ts";
import { VIEWS, viewOf } from "../src/lib/views.ts";

test("every address leads to a view, and to every view leads one", () => {
  const addresses = ["", "#/jobs", "#/jobs/abc", "#/jobs/abc/best", "#/jobs/abc/space", "#/jobs/abc/workers", "#/jobs/abc/about", "#/new?clone=abc", "#/compare?jobs=a,b", "#/notifications?job=abc", "#/elsewhere"];
  const found = addresses.map((one) => viewOf(parse(one)));
  assert.deepEqual(found.slice(0, 3), ["jobs", "jobs", "job/convergence"]);
  assert.deepEqual(new Set(found), new Set(VIEWS));
  assert.deepEqual(parse("#/jobs/%E0%/a%20b").parts, ["jobs", "%E0%", "a b"]); // whoever makes a link may break it
  assert.equal(viewOf(parse("#/jobs/abc/nothing-like-it")), "job/convergence");
});
