// What each worker did when: a lane for each, a bar for each evaluation.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Pen } from "../charts/pen.ts";
import { css } from "../lib/colours.ts";
import { clock, count, duration, plural } from "../lib/format.ts";
import { useFollowed, useScheme, useWidth } from "../lib/hooks.ts";
import { isSample, type Convergence } from "../lib/table.ts";
import { inTurn } from "../lib/turns.ts";
import { ENDED, type Job, type Statistics } from "../lib/types.ts";
import { Failure, Section } from "../ui/parts.tsx";
import { Saving } from "../ui/saving.tsx";

const LANE = 26;
const LEFT = 8;
const AXIS = 26;
const NOBODY = "no worker"; // what breaks a constraint, or was cancelled before one took it

interface Bar { number: number; lane: number; from: number; to: number; state: string; cached: boolean; value: number | null }

export function WorkersTab({ job, convergence, pick }: { job: Job; convergence: Convergence; pick: (number: number) => void }) {
  const [attach, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [hover, setHover] = useState<{ bar: Bar; left: number; top: number } | null>(null);
  const scheme = useScheme();
  const { data: statistics, error, reload } = useFollowed<Statistics>(`/jobs/${job.id}/statistics`, convergence.total);
  const { bars, workers, from, to } = useMemo(() => lanes(convergence, job), [convergence, job]);
  const height = workers.length * (LANE + 14) + AXIS;
  const x = (at: number) => LEFT + ((at - from) / Math.max(to - from, 1e-3)) * (width - 2 * LEFT);

  function paint(ctx: Pen): void {
    const colours = coloursOf();
    ctx.font = "12px system-ui, sans-serif";
    workers.forEach((worker, lane) => {
      const top = lane * (LANE + 14);
      ctx.fillStyle = css("ink-2");
      ctx.fillText(worker, LEFT, top + 11);
      ctx.fillStyle = css("panel-2");
      ctx.fillRect(LEFT, top + 14, width - 2 * LEFT, LANE - 4);
    });
    for (const bar of bars) {
      const left = x(bar.from);
      ctx.fillStyle = colours[bar.state] ?? css("line");
      ctx.fillRect(left, bar.lane * (LANE + 14) + 14, Math.max(1, x(bar.to) - left - 0.5), LANE - 4);
    }
    ctx.fillStyle = css("ink-2");
    for (let step = 0; step <= 4; step += 1) {
      const at = from + ((to - from) * step) / 4;
      ctx.textAlign = step === 0 ? "left" : step === 4 ? "right" : "center";
      ctx.fillText(clock(at - from), x(at), height - 8);
    }
  }
  useEffect(() => {
    const element = canvas.current;
    if (!element || !width) return;
    const ratio = devicePixelRatio;
    element.width = width * ratio;
    element.height = height * ratio;
    const ctx = element.getContext("2d");
    if (!ctx) return;
    ctx.scale(ratio, ratio);
    ctx.clearRect(0, 0, width, height);
    paint(ctx);
  }, [bars, width, height, scheme]);

  function under(event: MouseEvent) {
    const lane = Math.floor(event.offsetY / (LANE + 14));
    const near = bars.filter((bar) => bar.lane === lane && event.offsetX >= x(bar.from) - 1 && event.offsetX <= Math.max(x(bar.to), x(bar.from) + 2));
    return near.at(-1) ?? null;
  }
  const counted = statistics?.workers ?? [];
  const busy = bars.reduce((sum, bar) => sum + (bar.cached ? 0 : bar.to - bar.from), 0);
  const lanesAtWork = workers.filter((name) => name !== NOBODY).length;
  // Of a sample nobody can tell how many evaluations a worker has at a time.
  const share = !isSample(convergence) && to > from && lanesAtWork ? `, busy ${Math.round((busy / (to - from) / lanesAtWork) * 100)} % of the time` : "";
  const aside = statistics && `${plural(counted.filter((one) => one.worker !== null).length, "worker")}${share}`;
  return (
    <Section title="Timeline by worker" aside={aside && <span class="quiet">{aside}</span>}>
      {error && <Failure problem={error} retry={reload} />}
      {isSample(convergence) && <p class="quiet small-text" role="note">The timeline shows {count(convergence.rows.length)} of {plural(convergence.total, "trial")}, an even sample; the table counts them all.</p>}
      <div class="chart" ref={attach}>
        <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} role="img"
          aria-label={`Evaluations of ${plural(workers.length, "lane")} over ${clock(to - from)}`}
          onMouseMove={(event) => { const bar = under(event); setHover(bar && { bar, left: event.offsetX, top: bar.lane * (LANE + 14) + 14 }); }}
          onMouseLeave={() => setHover(null)}
          onClick={(event) => { const bar = under(event); if (bar) pick(bar.number); }} />
        {hover && <div class="tip" style={{ left: `${hover.left}px`, top: `${hover.top}px` }} aria-hidden="true">
          <b>Trial {hover.bar.number}</b> {hover.bar.state}{hover.bar.cached ? ", cached" : ""}
          <div>{duration(hover.bar.value)} simulated in {clock(hover.bar.to - hover.bar.from)}</div>
        </div>}
      </div>
      <ul class="legend" aria-label="Legend">
        {STATES.map((state) => <li key={state}><span class={`swatch fill-${state}`} />{state}</li>)}
      </ul>
      <Saving name={`${job.id}-workers`}
        figure={() => ({
          title: `${job.name}: timeline by worker`, width, height, paint,
          legend: STATES.map((state) => ({ mark: "swatch" as const, colour: coloursOf()[state] ?? "", name: state })),
        })}
        table={() => [["lane", "trial", "state", "cached", "from", "to", "seconds"],
          ...bars.map((bar) => [workers[bar.lane], bar.number, bar.state, bar.cached, bar.from - from, bar.to - from, bar.value])]} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Workers"><table>
        <thead><tr><th scope="col">Worker</th><th scope="col" class="num">Trials</th><th scope="col" class="num">Busy</th><th scope="col" class="num">Longest</th></tr></thead>
        <tbody>{counted.map((one) => (
          <tr key={one.worker}><th scope="row">{one.worker ?? NOBODY}</th><td class="num">{count(one.trials)}</td>
            <td class="num">{clock(one.busy_seconds)}</td>
            <td class="num">{clock(one.longest_seconds)}</td></tr>
        ))}</tbody>
      </table></div>
    </Section>
  );
}

const STATES = ["completed", "censored", "infeasible", "failed", "running"];

function coloursOf(): Record<string, string> {
  return {
    completed: css("good-fill"), censored: css("warn-fill"), infeasible: css("bad-fill"), failed: css("bad"), cancelled: css("line"),
    running: css("accent"), pending: css("line"),
  };
}

interface Found extends Omit<Bar, "lane"> { worker: string; took: number | null }

/** One worker process evaluates several trials at once, so it gets as many lanes as it needs. */
export function lanes(convergence: Convergence, job: Pick<Job, "state">): { bars: Bar[]; workers: string[]; from: number; to: number } {
  const found: Found[] = inTurn(convergence.rows.filter((row) => row.finished !== null).map((row) => ({
    number: row.number, worker: row.worker ?? NOBODY, from: row.started, to: row.worker === null ? row.started : (row.finished ?? row.started),
    state: row.state, cached: row.cached, value: row.value, took: row.took,
  })));
  const last = Math.max(0, ...found.map((bar) => bar.to), ...convergence.open.map((trial) => trial.started_at ?? 0));
  const now = ENDED.includes(job.state) || job.state === "paused" ? last : Math.max(last, Date.now() / 1000);
  for (const trial of convergence.open) {
    if (trial.started_at !== null && trial.state === "running") {
      found.push({ number: trial.number, worker: trial.worker ?? "?", from: trial.started_at, to: now, state: "running", cached: false, value: null, took: null });
    }
  }
  found.sort((a, b) => a.from - b.from || a.number - b.number);
  const ends = new Map<string, number[]>();
  const names = new Map<string, string>();
  const placed = found.map((bar) => {
    const free = ends.get(bar.worker) ?? [];
    ends.set(bar.worker, free);
    let slot = free.findIndex((end) => end <= bar.from + 1e-6);
    if (slot < 0) slot = free.length;
    free[slot] = bar.to;
    const key = `${bar.worker} ${slot}`;
    names.set(key, slot ? `${bar.worker} (${slot + 1})` : bar.worker);
    return { bar, key };
  });
  const keys = [...names.keys()].sort();
  const lane = new Map(keys.map((key, i) => [key, i]));
  return {
    bars: placed.map(({ bar, key }) => ({ ...bar, lane: lane.get(key) ?? 0 })),
    workers: keys.map((key) => names.get(key) ?? key),
    from: Math.min(...found.map((bar) => bar.from)),
    to: Math.max(...found.map((bar) => bar.to)),
  };
}
