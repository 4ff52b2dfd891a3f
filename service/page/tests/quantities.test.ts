// Quantities of stored job files, written with units that mean the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { INITIAL, describing, fileOf } from "../src/create/form.ts";
import { exact, QUANTITIES, withUnits } from "../src/create/quantities.ts";

const { machine, limits } = QUANTITIES;
const SPEEDS = machine!["host_speed"]!, BANDWIDTHS = machine!["link_bandwidth"]!, DURATIONS = machine!["link_latency"]!, SIZES = limits!["memory"]!;

test("quantities are written in the largest unit that is exact", () => {
  for (const [value, units, text] of [
    [1e11, SPEEDS, "100Gf"], [5e9, BANDWIDTHS, "40Gbps"], [6.818e9, BANDWIDTHS, "54.544Gbps"], [6e-8, DURATIONS, "60ns"],
    [0, DURATIONS, "0s"], [1.5e-6, DURATIONS, "1.5us"], [2.5, DURATIONS, "2.5s"], [90, DURATIONS, "90s"], [600, DURATIONS, "10min"],
    [5400, DURATIONS, "90min"], [86400, DURATIONS, "1d"], [2 ** 32, SIZES, "4GiB"], [65480, SIZES, 65480], [65536, SIZES, "64KiB"],
    [1e-15, DURATIONS, 1e-15], [1e9 / 3, SPEEDS, 1e9 / 3],
  ] as const) assert.equal(exact(value, units), text);
});

test("a stored job file has units in its quantities, wherever they are, and nothing else changes", () => {
  const file = {
    name: "small", seed: 5e9, application: { applications: [{ name: "a", start: 0.05, application: { source: "s", host_speed_of_capture: 2e9 } }] },
    machine: { nodes: 16, host_speeds: [1e11, 2e11], link_bandwidth: 5e9, protocol: { mtu: 1500, stagger: 1e-6, turn: 65536 }, topology: { edges: [[0, 1]] } },
    search: { target: "openmpi-4.1" }, budget: { trials: 600, wall_seconds: 600 }, limits: { memory: 2 ** 32, wall_seconds: 600 },
  };
  assert.deepEqual(withUnits(file), {
    ...file, application: { applications: [{ name: "a", start: "50ms", application: { source: "s", host_speed_of_capture: "2Gf" } }] },
    machine: { ...file.machine, host_speeds: ["100Gf", "200Gf"], link_bandwidth: "40Gbps", protocol: { mtu: 1500, stagger: "1us", turn: "64KiB" } },
    budget: { trials: 600, wall_seconds: "10min" }, limits: { memory: "4GiB", wall_seconds: "10min" },
  });
  assert.deepEqual(fileOf({ name: "a", machine: { id: "m1" }, budget: { wall_seconds: 60 } }), { name: "a", machine: { id: "m1" }, budget: { wall_seconds: "1min" } });
});

test("the numbers of a stored machine come into the form with units", () => {
  const form = describing(INITIAL, { nodes: 2, host_speed: 1e11, link_bandwidth: 5e9, link_latency: 0, switch_latency: 6e-8 }, { topologies: [], programs: [] });
  assert.deepEqual([form.hostSpeed, form.bandwidth, form.linkLatency, form.switchLatency], ["100Gf", "40Gbps", "0s", "60ns"]);
  assert.deepEqual(form.filled, { cores: "1", hostSpeed: "100Gf", bandwidth: "40Gbps", linkLatency: "0s", switchLatency: "60ns" });
});
