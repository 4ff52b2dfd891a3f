import assert from "node:assert/strict";
import { test } from "node:test";
import { unique } from "../src/lib/unique.ts";

test("names that nobody else has are there over plain http too", (context) => {
  // What browsers leave out where an address is no secure one.
  context.mock.method(crypto, "randomUUID", () => { throw new TypeError("crypto.randomUUID is not a function"); });
  const names = Array.from({ length: 100 }, unique);
  assert.equal(new Set(names).size, 100);
  for (const name of names) assert.match(name, /^[0-9a-f]{32}$/);
});
