// What the trials say about the parameters: which matter, how they go together, one by one.
import { count, plural } from "../lib/format.ts";
import { useFollowed } from "../lib/hooks.ts";
import { isSample, type Convergence } from "../lib/table.ts";
import type { Importance, Job, Statistics } from "../lib/types.ts";
import { Failure, Loading, Section } from "../ui/parts.tsx";
import { Parallel } from "./parallel.tsx";
import { Slices } from "./slices.tsx";

export function SpaceTab({ job, convergence, pick }: { job: Job; convergence: Convergence; pick: (number: number) => void }) {
  const { data: statistics, error, reload } = useFollowed<Statistics>(`/jobs/${job.id}/statistics`, convergence.total);
  return (
    <>
      {isSample(convergence) && <p class="quiet small-text" role="note">The pictures are drawn of {count(convergence.rows.length)} of {plural(convergence.total, "trial")}, an even sample with every improvement; the fastest of each value are of all.</p>}
      <Section title="Parallel coordinates">
        <Parallel convergence={convergence} pick={pick} />
      </Section>
      <Section title="Importance of each parameter">
        <Shares job={job} finished={convergence.total} />
      </Section>
      <Section title="One parameter at a time">
        {error && <Failure problem={error} retry={reload} />}
        <Slices convergence={convergence} statistics={statistics} pick={pick} />
      </Section>
    </>
  );
}

function Shares({ job, finished }: { job: Job; finished: number }) {
  const { data, error, loading, reload } = useFollowed<Importance>(`/jobs/${job.id}/importance`, finished, 15_000); // learning takes a moment
  if (error) return <Failure problem={error} retry={reload} />;
  if (loading || !data) return <Loading what="the importance (a forest is learning)" />;
  const most = Math.max(0.01, ...data.parameters.map((one) => one.importance));
  return (
    <>
      {data.note && <p class="quiet">{data.note}</p>}
      <div class="bars" role="list" aria-label="Importance">
        {data.parameters.map((one) => (
          <div class="bar-row" role="listitem" key={one.name}>
            <span>{one.name}</span>
            <span class="bar" aria-hidden="true"><span style={{ width: `${(100 * one.importance) / most}%` }} /></span>
            <span class="num">{Math.round(one.importance * 100)} % <span class="quiet">± {Math.round(one.deviation * 100)}</span></span>
          </div>
        ))}
      </div>
      {data.parameters.length > 0 && <p class="small-text quiet">{data.method}, of {data.trials < data.available ? `an even sample of ${count(data.trials)} of the ${count(data.available)}` : count(data.trials)} completed trials of the search space (censored ones say too little); R² on trials left out {data.score?.toFixed(2) ?? "–"}.</p>}
    </>
  );
}
