import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, clock, cost, duration, gain, chance, sentence } from "../src/lib/format.ts";
import { flatten, replayOf } from "../src/lib/replay.ts";
import { yaml } from "../src/lib/yaml.ts";

test("simulated times have a unit that fits", () => {
  assert.equal(duration(0.0712), "71.2 ms");
  assert.equal(duration(1.953e-4), "195.3 µs");
  assert.equal(duration(100), "100 s");
  assert.equal(duration(0), "0 s");
  assert.equal(duration(null), "–");
});

test("a time that is rounded up to 1000 of its unit is told in the next one", () => {
  assert.deepEqual([0.0009999999999999998, 0.99996, 9.99996e-7, -0.99996].map(duration), ["1 ms", "1 s", "1 µs", "-1 s"]);
  assert.deepEqual([999.96, 1000, 12345.6].map(duration), ["1,000 s", "1,000 s", "12,346 s"]);
  assert.deepEqual([0.9999, 0.0009999, 999.9, 120].map(duration), ["999.9 ms", "999.9 µs", "999.9 s", "120 s"]);
});

test("clock times are for people", () => {
  assert.deepEqual([0.25, 3.2, 61, 3600, 7500, 200000].map(clock), ["250 ms", "3.2 s", "1 min 1 s", "1 h", "2 h 5 min", "2 d 7 h"]);
});

test("gains are percentages over the best", () => {
  assert.equal(gain(1.18), "+18 %");
  assert.equal(gain(0.95), "−5.0 %");
  assert.equal(gain(null), "–");
});

test("a sentence begins with a capital letter, unless a name is first", () => {
  assert.equal(sentence("packets decided."), "Packets decided.");
  assert.equal(sentence("torus-3d is slower"), "torus-3d is slower");
});

test("what an evaluation took is told with the name of each", () => {
  assert.equal(cost({ cpu_seconds: 1.9e-3, wall_seconds: 0.024, peak_rss_bytes: 11 << 20 }), "2 ms of CPU, 24 ms of wall clock, 11.0 MiB of memory");
  assert.equal(cost({ cpu_seconds: null, wall_seconds: null, peak_rss_bytes: null }), "–");
});

test("sizes are in powers of 1024", () => assert.deepEqual([512, 1536, 1 << 30].map(bytes), ["512 B", "1.5 KiB", "1.0 GiB"]));

test("YAML quotes what could be misread", () => {
  const text = yaml({ name: "no", degree: 4, speed: 1e11, latency: 6e-8, search: { topology: ["torus-3d", { family: "random", instances: 4 }], jumps: "1,5" }, empty: {} });
  assert.equal(text, [
    'name: "no"', "degree: 4", "speed: 100000000000", "latency: 6.0e-8", "search:", "  topology:", "    - torus-3d",
    "    - family: random", "      instances: 4", '  jumps: "1,5"', "empty: {}", "",
  ].join("\n"));
});

test("a trial's command names the files that go with it", () => {
  const replay = replayOf({ name: "j", spec: { machine: { nodes: 4 }, application: { builtin: "is" } } }, { number: 7, kind: "search", configuration: { mpi: "ompi" } });
  for (const file of replay.files) assert.ok(replay.command?.includes(file.name));
  const uploaded = replayOf({ name: "j", spec: { machine: { nodes: 4 }, application: { id: "x" } } }, { number: 7, kind: "search", configuration: {} });
  assert.equal(uploaded.command, null);
  assert.equal(uploaded.files.length, 2);
  const compared = replayOf({ name: "j", spec: { application: { builtin: "is" } } }, { number: 8, kind: "comparison", configuration: {} });
  assert.ok(compared.command?.endsWith(" --network fluid"));
});

test("configurations are flattened to dotted names", () => {
  assert.deepEqual([...flatten({ a: 1, collectives: { bcast: "x" }, order: [1, 2] })], [["a", 1], ["collectives.bcast", "x"], ["order", [1, 2]]]);
});

test("probabilities of a model are not said to be 0 or 1", () => {
  assert.deepEqual([0, 0.004, 0.123, 0.999].map(chance), ["below 1 %", "below 1 %", "12 %", "over 99 %"]);
});
