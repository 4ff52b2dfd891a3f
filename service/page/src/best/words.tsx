// A configuration as a person would say it.
import { flatten } from "../lib/replay.ts";
import type { Best, Placement } from "../lib/types.ts";

export function Words({ best, placement }: { best: Best; placement: Placement }) {
  const parts = flatten(best.configuration);
  const text = (name: string, otherwise: string) => String(parts.get(name) ?? otherwise);
  const options = (prefix: string) => [...parts].filter(([name]) => name.startsWith(prefix)).map(([name, value]) => `${name.slice(prefix.length)} ${String(value)}`);
  const topology = text("topology", "given");
  const details = [...options(`${topology}.`), ...(parts.has("topology_seed") ? [`instance ${String(parts.get("topology_seed"))}`] : [])];
  const mapping = text("mapping", "by-order");
  const mpi = text("mpi", "default");
  return (
    <ul class="words">
      <li>The network is <b>{topology === "given" ? "the machine's own" : topology}</b>{details.length > 0 && ` (${details.join(", ")})`}{placement.network && `: ${placement.network.hosts} hosts, ${placement.network.edges.length} cables`}.</li>
      <li>Its hosts are ordered by <b>{text("ordering", "original")}</b>.</li>
      <li>Ranks are placed by <b>{mapping}</b>{options(`mapping-options.${mapping}.`).length > 0 && ` (${options(`mapping-options.${mapping}.`).join(", ")})`}.</li>
      <li>Collectives use the algorithms of <b>{mpi === "default" ? "SMPI" : mpi}</b>{placement.choices.some((one) => one.algorithm !== "default") ? ", except:" : "."}
        <ul>{placement.choices.filter((one) => one.algorithm !== "default").map((one) => (
          <li key={one.name}><b>{one.name}</b> by <b>{one.algorithm}</b>: {one.words}</li>
        ))}</ul>
      </li>
    </ul>
  );
}
