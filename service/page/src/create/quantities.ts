// Quantities of stored job files, which have them in SI base units, as people write them: `40Gbps`, `60ns`.
import type { Json } from "../lib/types.ts";
import { isDocument, type Document } from "./document.ts";

/** A unit: its name, its size in the base unit, and whether only whole numbers of it are written. */
type Unit = readonly [string, number, ("whole" | "any")?];

const SPEEDS: readonly Unit[] = [["Ef", 1e18], ["Pf", 1e15], ["Tf", 1e12], ["Gf", 1e9], ["Mf", 1e6], ["kf", 1e3], ["f", 1]];
const BANDWIDTHS: readonly Unit[] = [["Ebps", 1e18 / 8], ["Pbps", 1e15 / 8], ["Tbps", 1e12 / 8], ["Gbps", 1e9 / 8], ["Mbps", 1e6 / 8], ["kbps", 1e3 / 8], ["bps", 1 / 8]];
const DURATIONS: readonly Unit[] = [["d", 86400, "whole"], ["h", 3600, "whole"], ["min", 60, "whole"], ["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9], ["ps", 1e-12]];
const SIZES: readonly Unit[] = [["TiB", 2 ** 40, "whole"], ["GiB", 2 ** 30, "whole"], ["MiB", 2 ** 20, "whole"], ["KiB", 2 ** 10, "whole"]];

const DIGITS = 15;

function all(names: string, units: readonly Unit[]): Record<string, readonly Unit[]> {
  return Object.fromEntries(names.split(" ").map((name) => [name, units]));
}

/** The quantities of a job file: by the group that they are in, at any depth, and their names. */
export const QUANTITIES: Record<string, Record<string, readonly Unit[]>> = {
  machine: {
    ...all("host_speed host_speeds", SPEEDS),
    ...all("link_bandwidth host_link_bandwidth switch_bandwidth interface_bandwidth memory_bandwidth loopback_bandwidth", BANDWIDTHS),
    ...all("link_latency switch_latency loopback_latency stagger peer_overhead", DURATIONS),
    ...all("eager_limit send_buffer exchange_above turn buffer burst", SIZES),
  },
  application: { ...all("host_speed_of_capture", SPEEDS), ...all("start", DURATIONS) },
  budget: all("wall_seconds cpu_seconds target", DURATIONS),
  limits: { ...all("wall_seconds", DURATIONS), ...all("memory", SIZES) },
  finalists: all("seconds wait", DURATIONS),
};

/** A number with its largest unit in which the service reads the same number; the number itself where none is. */
export function exact(value: number, units: readonly Unit[]): Json {
  if (value === 0 && units === DURATIONS) return "0s";
  for (const [name, size, how] of units) {
    if (!(value >= size)) continue;
    // As searchspace/units.py reads it.
    const read = (text: string) => (size >= 1 ? Number(text) * size : Number(text) / Math.round(1 / size));
    for (let digits = 1; digits <= DIGITS; digits++) {
      const text = String(Number((value / size).toPrecision(digits)));
      if (read(text) !== value) continue;
      if (how === "whole" ? /^\d+$/.test(text) : /^\d+(\.\d+)?$/.test(text)) return text + name;
    }
  }
  return value;
}

/** A job file with the units of its quantities: it means the same, to the last digit. */
export function withUnits(file: Document): Document {
  return Object.fromEntries(Object.entries(file).map(([group, value]) => [group, written(value, QUANTITIES[group] ?? {})]));
}

function written(value: Json, quantities: Record<string, readonly Unit[]>): Json {
  if (Array.isArray(value)) return value.map((one) => (isDocument(one) ? written(one, quantities) : one));
  if (!isDocument(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => {
    const units = Object.hasOwn(quantities, name) ? quantities[name] : undefined;
    if (!units) return [name, written(inner, quantities)];
    const one = (number: Json) => (typeof number === "number" ? exact(number, units) : number);
    return [name, Array.isArray(inner) ? inner.map(one) : one(inner)];
  }));
}
