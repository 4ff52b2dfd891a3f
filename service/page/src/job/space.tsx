// What the trials say about the parameters: which matter, how they go together, one by one.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useResource } from "../lib/hooks.ts";
import type { Convergence } from "../lib/table.ts";
import type { Importance, Job } from "../lib/types.ts";
import { Failure, Loading, Section } from "../ui/parts.tsx";
import { Parallel } from "./parallel.tsx";
import { Slices } from "./slices.tsx";

export function SpaceTab({ job, convergence, pick }: { job: Job; convergence: Convergence; pick: (number: number) => void }) {
  return (
    <>
      <Section title="Parallel coordinates">
        <Parallel convergence={convergence} pick={pick} />
      </Section>
      <Section title="Importance of each parameter">
        <Shares job={job} finished={convergence.total} />
      </Section>
      <Section title="One parameter at a time">
        <Slices convergence={convergence} pick={pick} />
      </Section>
    </>
  );
}

function Shares({ job, finished }: { job: Job; finished: number }) {
  // Learning takes a moment: while a job runs it is asked for again with each tenth trial more.
  const step = useMemo(() => Math.floor(Math.log(Math.max(1, finished)) * 10), [finished]);
  const { data, error, loading, reload } = useResource<Importance>(`/jobs/${job.id}/importance`);
  const asked = useRef(step);
  useEffect(() => {
    if (asked.current !== step) reload();
    asked.current = step;
  }, [step]);
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
      {data.parameters.length > 0 && <p class="small-text quiet">{data.method}, of {data.trials} completed trials of the search space (censored ones say too little); R² on trials left out {data.score?.toFixed(2) ?? "–"}.</p>}
    </>
  );
}
