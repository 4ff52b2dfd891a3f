// Two trials side by side: what was measured of both, and what of it tells them apart.
import { bytes, duration } from "./format.ts";
import type { Summary, Trial } from "./types.ts";

export type Measured = Pick<Trial, "number" | "state" | "value" | "fidelity" | "kind"> & { summary: Summary | null };

export interface Figure { name: string; mine: number | null; other: number | null; say: (value: number | null) => string }

const NOTICEABLE = 1.05; // times: less is not what makes the difference

/** What both have, most telling first; none where one has not been simulated to its end. */
export function figuresOf(mine: Measured, other: Measured): Figure[] {
  const [a, b] = [mine.summary, other.summary];
  const rank = (summary: Summary | null, share: string) => summary?.rank_finish_times?.quantiles[share] ?? null;
  const figures: Figure[] = [
    { name: "Simulated time", mine: mine.value, other: other.value, say: duration },
    { name: "Median rank finishes", mine: rank(a, "0.5"), other: rank(b, "0.5"), say: duration },
    { name: "Busiest cable, one way", mine: a?.link_loads?.quantiles["1"] ?? null, other: b?.link_loads?.quantiles["1"] ?? null, say: bytes },
    { name: "All cables together", mine: a?.link_loads?.bytes ?? null, other: b?.link_loads?.bytes ?? null, say: bytes },
  ];
  return figures.filter((one) => one.mine !== null || one.other !== null);
}

/** Why the slower one may be slower, by what was measured. */
export function reasonsOf(mine: Measured, other: Measured): string[] {
  if (mine.state !== "completed" || other.state !== "completed" || !mine.value || !other.value) return [];
  if (mine.fidelity !== other.fidelity) return ["One ran the whole trace, the other a truncated one: their times cannot be compared."];
  if ((mine.kind === "comparison") !== (other.kind === "comparison")) return ["They come from different network models: their times cannot be compared."];
  if (mine.value === other.value) return ["Both take the same time."];
  const [slow, fast] = mine.value > other.value ? [mine, other] : [other, mine];
  const said = [`Trial ${slow.number} takes ${times((slow.value ?? 0) / (fast.value ?? 1))} as long as trial ${fast.number}.`];
  const [a, b] = [slow.summary, fast.summary];
  if (!a?.link_loads || !b?.link_loads) return said;
  const busiest = ratio(a.link_loads.quantiles["1"], b.link_loads.quantiles["1"]);
  const all = ratio(a.link_loads.bytes, b.link_loads.bytes);
  if (all === Infinity) return [...said, "The other one sends nothing over cables."];
  if (busiest >= NOTICEABLE) said.push(`Its busiest cable carries ${times(busiest)} as much.`);
  if (all >= NOTICEABLE) said.push(`Its cables together carry ${times(all)} as much: messages cross more cables, or its algorithms send more.`);
  if (busiest < NOTICEABLE && all < NOTICEABLE) said.push("Its cables carry no more than the other's: it waits longer, because of latency or of the order in which messages arrive.");
  return said;
}

function ratio(slow: number | undefined, fast: number | undefined): number {
  if (!slow) return 1;
  return fast ? slow / fast : Infinity;
}

function times(value: number): string {
  return `${value.toPrecision(3)} times`;
}
