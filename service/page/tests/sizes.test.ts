import assert from "node:assert/strict";
import { test } from "node:test";
import { within, withinTogether } from "../src/create/sizes.ts";

const limits = { job_file: 10, program: 10, machine: 100, xml: 20 };
const file = (name: string, size: number, begin = "") => new File([begin.padEnd(size, "x")], name);

test("a file may be as large as the service takes, and no larger", () => {
  assert.doesNotThrow(() => within(file("a.ht", 10), 10));
  assert.throws(() => within(file("a.ht", 11), 10), { message: "a.ht has 11 B; the service takes at most 10 B." });
});

test("the files of a machine are measured each, those of XML by their own limit, and together", async () => {
  await withinTogether([file("fabric.txt", 80), file("host.xml", 20, " \n<topology>")], limits);
  await assert.rejects(withinTogether([file("fabric.txt", 101)], limits), /^Error: fabric.txt has 101 B; the service takes at most 100 B.$/);
  await assert.rejects(withinTogether([file("fabric.txt", 30), file("host.xml", 21, "\uFEFF<a>")], limits), /host.xml has 2\d B; the service takes at most 20 B/);
  await assert.rejects(withinTogether([file("fabric.txt", 81), file("host.xml", 20, "<a>")], limits), /fabric.txt and host.xml have 101 B together; the service takes at most 100 B/);
});
