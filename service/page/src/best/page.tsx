// The best configuration beside the best baseline: networks with their loads, ranks, traffic.
import { useMemo, useState } from "preact/hooks";
import { duration, gain, sentence, speedup } from "../lib/format.ts";
import { useResource } from "../lib/hooks.ts";
import type { Convergence } from "../lib/table.ts";
import type { Best, Job, Placement } from "../lib/types.ts";
import { Empty, Failure, Loading, Section } from "../ui/parts.tsx";
import { HopHistogram, RankTimes } from "./charts.tsx";
import { Exports } from "./exports.tsx";
import { TimeAndCost } from "./front.tsx";
import { RankMatrix } from "./matrix.tsx";
import { MeasuredTimes } from "./measured.tsx";
import { Network } from "./network.tsx";
import { TrafficMaps } from "./traffic.tsx";
import { Words } from "./words.tsx";

/** The best few by both network models, and which of them decided. */
function Comparisons({ best }: { best: Best }) {
  return (
    <Section title="Both network models">
      <div class="scroll" tabIndex={0} role="region" aria-label="Both network models"><table>
        <thead><tr><th scope="col">Trial</th><th scope="col">By packets</th><th scope="col">By fluid</th></tr></thead>
        <tbody>{best.comparisons.map((one) => (
          <tr key={one.comparison}><th scope="row">{one.trial}</th><td>{duration(one.value)}</td><td>{one.fluid === null ? one.state : duration(one.fluid)}</td></tr>
        ))}</tbody>
      </table></div>
      <p class="quiet">{best.note && sentence(best.note)}</p>
    </Section>
  );
}

export function BestTab({ job, convergence }: { job: Job; convergence: Convergence }) {
  const number = convergence.best?.trial ?? null;
  const rivals = useMemo(
    () => convergence.rows.filter((row) => row.kind === "baseline" && row.state === "completed" && row.value !== null)
      .sort((a, b) => (a.value ?? 0) - (b.value ?? 0)),
    [convergence],
  );
  const [chosen, setChosen] = useState<number | null>(null);
  const rival = rivals.find((row) => row.number === chosen) ?? rivals[0] ?? null;
  const best = useResource<Best>(number === null ? null : `/jobs/${job.id}/best`);
  const mine = useResource<Placement>(number === null ? null : `/jobs/${job.id}/trials/${number}/placement`);
  const theirs = useResource<Placement>(rival === null ? null : `/jobs/${job.id}/trials/${rival.number}/placement`);
  if (number === null) {
    return <Empty title="There is no best configuration yet."><p>It appears here, with its exports, once a trial of the search space has completed.</p></Empty>;
  }
  const problem = mine.error ?? best.error;
  if (problem) return <Failure problem={problem} retry={() => { mine.reload(); best.reload(); }} />;
  if (!mine.data || !best.data) return <Loading what="the best configuration" />;
  const other = theirs.data;
  const label = rival?.label ?? "baseline";
  const most = Math.max(1, ...[mine.data, ...(other ? [other] : [])].flatMap((one) => one.loads?.map(([a, b]) => a + b) ?? []));
  return (
    <>
      <Section title="Summary">
        <Words best={best.data} placement={mine.data} />
        {rival?.value && <p>It takes <b>{duration(best.data.value)}</b> {best.data.decided_by === "script" ? best.data.model : `simulated (${best.data.model})`}. The baseline {label} takes {duration(rival.value)}, so the best is {speedup(rival.value / best.data.value)} as fast ({gain(rival.value / best.data.value)}).</p>}
        {best.data.within_error && <p>The difference from the best baseline is within the error of the model ({(100 * best.data.error).toPrecision(2)}%), so it is neither a gain nor a loss.</p>}
        {best.data.advice.map((line) => <p key={line}>{sentence(line)}.</p>)}
        {best.data.measured && <p>Measured on {best.data.measured.cluster}: <b>{duration(best.data.measured.seconds)}</b>, the median of {best.data.measured.runs.length} runs{best.data.measured.default !== null && <>; with the library’s defaults it took {duration(best.data.measured.default)}{best.data.measured.separated === false && ", a difference that may be chance"}</>}.</p>}
        {best.data.undecided && <p>Nothing was measured: {best.data.undecided}. So the simulation decided.</p>}
        {rivals.length > 1 && (
          <p><label>Compare with <select value={String(rival?.number ?? "")} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {rivals.map((row) => <option key={row.number} value={String(row.number)}>{row.label} ({duration(row.value)})</option>)}
          </select></label></p>
        )}
      </Section>
      {best.data.comparisons.length > 0 ? <Comparisons best={best.data} /> : best.data.note && <p class="quiet">{sentence(best.data.note)}</p>}
      <MeasuredTimes job={job} />
      <TimeAndCost job={job} />
      <Exports job={job} />
      <Section title="Network and link loads">
        <div class="grid-2">
          <Network job={job.id} title={`Best: trial ${number}`} placement={mine.data} most={most} />
          {other ? <Network job={job.id} title={label} placement={other} most={most} /> : theirs.error ? <Failure problem={theirs.error} /> : null}
        </div>
      </Section>
      <Section title="Traffic between hosts, before and after">
        <TrafficMaps job={job.id} mine={mine.data} other={other} label={label} mapping={String(best.data.configuration["mapping"] ?? "by-order")} />
      </Section>
      <Section title="Rank placement">
        <div class="grid-2">
          <RankMatrix job={job.id} title="Host of each rank, best" placement={mine.data} />
          {other && <RankMatrix job={job.id} title={`Host of each rank, ${label}`} placement={other} />}
        </div>
      </Section>
      <Section title="Hops and finish times">
        <div class="grid-2">
          <HopHistogram job={job.id} mine={mine.data} other={other} label={label} />
          <RankTimes job={job.id} mine={mine.data} other={other} label={label} />
        </div>
      </Section>
    </>
  );
}
