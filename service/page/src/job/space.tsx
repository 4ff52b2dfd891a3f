// What the trials say about the parameters: which matter, how they go together, one by one.
import { count, plural } from "../lib/format.ts";
import { useFollowed } from "../lib/hooks.ts";
import { isSample, type Convergence } from "../lib/table.ts";
import type { Figure } from "../charts/figure.ts";
import { css } from "../lib/colours.ts";
import type { Importance, Job, Statistics } from "../lib/types.ts";
import { Failure, Loading, Section } from "../ui/parts.tsx";
import { Saving } from "../ui/saving.tsx";
import { Parallel } from "./parallel.tsx";
import { Slices } from "./slices.tsx";

export function SpaceTab({ job, convergence, pick }: { job: Job; convergence: Convergence; pick: (number: number) => void }) {
  const { data: statistics, error, reload } = useFollowed<Statistics>(`/jobs/${job.id}/statistics`, convergence.total);
  return (
    <>
      {isSample(convergence) && <p class="quiet small-text" role="note">The charts show {count(convergence.rows.length)} of {plural(convergence.total, "trial")}, an even sample with every improvement; the fastest of each value is found among all.</p>}
      <Section title="Parallel coordinates">
        <Parallel name={job.name} convergence={convergence} pick={pick} />
      </Section>
      <Section title="Importance of each parameter">
        <Shares job={job} finished={convergence.total} />
      </Section>
      <Section title="One parameter at a time">
        {error && <Failure problem={error} retry={reload} />}
        <Slices name={job.name} convergence={convergence} statistics={statistics} pick={pick} />
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
      {data.parameters.length > 0 && <Saving name={`${job.id}-importance`} figure={() => importanceFigure(job.name, data)}
        table={() => [["parameter", "importance", "deviation"], ...data.parameters.map((one) => [one.name, one.importance, one.deviation])]} />}
      {data.parameters.length > 0 && <p class="small-text quiet">{data.method}, of {data.trials < data.available ? `an even sample of ${count(data.trials)} of the ${count(data.available)}` : count(data.trials)} completed trials of the search space{data.censored > 0 && ` (${count(data.censored)} that were cut off tell too little)`}; R² on trials left out {data.score?.toFixed(2) ?? "–"}.</p>}
    </>
  );
}

const BAR = 24; // pixels from one to the next
const NAMES = 230;
const FIGURES = 90;

function importanceFigure(name: string, { parameters, score }: Importance): Figure {
  const width = 720;
  const most = Math.max(0.01, ...parameters.map((one) => one.importance));
  return {
    title: `${name}: importance of each parameter`, width, height: parameters.length * BAR,
    note: `R² on trials left out of learning ${score?.toFixed(2) ?? "–"}`,
    paint: (pen) => parameters.forEach((one, i) => {
      const middle = i * BAR + BAR / 2;
      pen.font = "12px system-ui, sans-serif";
      pen.fillStyle = css("ink");
      pen.textAlign = "right";
      pen.fillText(one.name, NAMES - 8, middle + 4);
      pen.fillStyle = css("accent");
      pen.fillRect(NAMES, middle - 7, Math.max(0, one.importance / most) * (width - NAMES - FIGURES), 14);
      pen.fillStyle = css("ink-2");
      pen.fillText(`${Math.round(one.importance * 100)} % ± ${Math.round(one.deviation * 100)}`, width, middle + 4);
    }),
  };
}
