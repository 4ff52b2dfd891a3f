// What hosts exchange before and after the ranks were placed.
import { bytes } from "../lib/format.ts";
import { useStored } from "../lib/hooks.ts";
import type { Placement } from "../lib/types.ts";
import { Choice } from "../ui/choice.tsx";
import { ScaleBar } from "../ui/scale.tsx";
import { amountColour, amounts, HeatMap } from "./matrix.tsx";

type Before = "order" | "baseline";

/** Hops of a byte, on average; null where nothing is exchanged or the network is too large. */
function apart(placement: Placement, hopBytes: number | null): number | null {
  const all = placement.hops.reduce((sum, one) => sum + one.bytes, 0);
  return all && hopBytes !== null ? hopBytes / all : null;
}

export function TrafficMaps({ job, mine, other, label, mapping }: {
  /** Its id. */
  job: string; mine: Placement; other: Placement | null; label: string; mapping: string;
}) {
  const [wanted, setBefore] = useStored<Before>("hamtune-before", "order");
  const before = other ? wanted : "order";
  const rival = before === "baseline" ? other : null;
  const was = rival ? rival.traffic : mine.before;
  const range = amounts([was, mine.traffic]);
  const { block } = mine.traffic;
  return (
    <>
      {other && <div class="controls"><Choice label="Before" options={[["order", "best with ranks in order"], ["baseline", label]] as const} value={before} change={setBefore} /></div>}
      {!rival && mapping === "by-order" && <p class="quiet">In the best configuration the ranks are in order, so both are the same.</p>}
      <div class="grid-2">
        <HeatMap job={job} title={`Before: ${rival ? label : "ranks in order"}`} heat={was} range={range}
          hops={rival ? apart(rival, rival.hop_bytes) : apart(mine, mine.before_hop_bytes)} />
        <HeatMap job={job} title={`After: mapped by ${mapping}`} heat={mine.traffic} range={range} hops={apart(mine, mine.hop_bytes)} />
      </div>
      <p class="small-text quiet"><ScaleBar colour={amountColour} /> {bytes(Math.min(...range))} to {bytes(range[1])} between hosts{block > 1 ? `, ${block} hosts a cell` : ""}, logarithmic; collectives as the messages of their algorithm's family.</p>
    </>
  );
}
