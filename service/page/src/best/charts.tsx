// Histograms of hops and the times of ranks.
import { useEffect, useRef } from "preact/hooks";
import type { Pen } from "../charts/pen.ts";
import { css } from "../lib/colours.ts";
import { bytes, count, duration } from "../lib/format.ts";
import { useScheme, useWidth } from "../lib/hooks.ts";
import type { Placement } from "../lib/types.ts";
import { Saving } from "../ui/saving.tsx";

function useCanvas(draw: (ctx: CanvasRenderingContext2D) => void, width: number, height: number, when: unknown[]) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element || !width || !height) return;
    element.width = width;
    element.height = height;
    const ctx = element.getContext("2d");
    if (ctx) draw(ctx);
  }, [width, height, ...when]);
  return canvas;
}

export function HopHistogram({ job, mine, other, label }: { job: string; mine: Placement; other: Placement | null; label: string }) {
  const all = [...new Set([...mine.hops, ...(other?.hops ?? [])].map((one) => one.hops))].sort((a, b) => a - b);
  const most = Math.max(1, ...[...mine.hops, ...(other?.hops ?? [])].map((one) => one.bytes));
  const of = (placement: Placement, hops: number) => placement.hops.find((one) => one.hops === hops);
  return (
    <figure>
      <figcaption>Bytes by the number of hops between sender and receiver</figcaption>
      {all.length === 0 ? <p class="quiet">The ranks exchange no messages, or the network is too large to measure.</p> : (
        <table class="histogram">
          <thead><tr><th scope="col" class="num">Hops</th><th scope="col">Best</th>{other && <th scope="col">{label}</th>}</tr></thead>
          <tbody>{all.map((hops) => (
            <tr key={hops}><th scope="row" class="num">{hops}</th>
              {[mine, ...(other ? [other] : [])].map((placement, i) => {
                const found = of(placement, hops);
                return <td key={i}><span class="bar"><span style={{ width: `${(100 * (found?.bytes ?? 0)) / most}%` }} /></span><span class="sub">{found ? `${bytes(found.bytes)}, ${count(found.pairs)} pairs` : "none"}</span></td>;
              })}</tr>
          ))}</tbody>
          <tfoot><tr><th scope="row" class="num">Σ</th>{[mine, ...(other ? [other] : [])].map((placement, i) => <td key={i}>{bytes(placement.hop_bytes ?? 0)} × hops</td>)}</tr></tfoot>
        </table>
      )}
      {all.length > 0 && <Saving name={`${job}-hops`}
        table={() => [["configuration", "hops", "pairs", "bytes"], ...[mine, ...(other ? [other] : [])].flatMap((placement) => placement.hops.map((one) => [placement === mine ? "best" : label, one.hops, one.pairs, one.bytes]))]} />}
    </figure>
  );
}

const HEIGHT = 190;

export function RankTimes({ job, mine, other, label }: { job: string; mine: Placement; other: Placement | null; label: string }) {
  const [attach, width] = useWidth<HTMLDivElement>();
  const scheme = useScheme();
  const times = (placement: Placement | null) => placement?.rank_times.filter((time): time is number => time !== null) ?? [];
  const [own, theirs] = [times(mine), times(other)];
  const most = Math.max(...own, ...theirs, 1e-12);
  const ratio = typeof devicePixelRatio === "number" ? devicePixelRatio : 1;
  const paint = (ctx: Pen) => {
    const line = (values: number[], colour: string) => {
      ctx.strokeStyle = colour;
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      const step = width / values.length;
      values.forEach((time, rank) => {
        const y = HEIGHT - (time / most) * (HEIGHT - 8);
        if (rank === 0) ctx.moveTo(0, y);
        ctx.lineTo(rank * step, y);
        ctx.lineTo((rank + 1) * step, y);
      });
      ctx.stroke();
    };
    ctx.fillStyle = css("panel-2");
    ctx.fillRect(0, 0, width, HEIGHT);
    if (theirs.length) line(theirs, css("baseline"));
    if (own.length) line(own, css("accent"));
  };
  const canvas = useCanvas((ctx) => {
    ctx.scale(ratio, ratio);
    paint(ctx);
  }, Math.floor(width * ratio), HEIGHT * ratio, [mine, other, scheme, width]);
  const said = (values: number[]) => (values.length ? `${duration(Math.min(...values))} to ${duration(Math.max(...values))}` : "not recorded");
  return (
    <figure>
      <figcaption>When each rank has finished</figcaption>
      <div ref={attach}><canvas ref={canvas} style={{ width: "100%", height: `${HEIGHT}px` }} role="img" aria-label={`Finish times: best ${said(own)}${other ? `, ${label} ${said(theirs)}` : ""}`} /></div>
      <ul class="legend"><li><span class="dot" style={{ background: "var(--accent)" }} />best: {said(own)}</li>{other && <li><span class="dot" style={{ background: "var(--baseline)" }} />{label}: {said(theirs)}</li>}</ul>
      {own.length > 0 && <Saving name={`${job}-rank-times`}
        figure={() => ({
          title: "When each rank has finished", note: `from 0 to ${duration(most)}, ranks to the right`, width, height: HEIGHT, paint,
          legend: [{ mark: "line", colour: css("accent"), name: `best: ${said(own)}` }, ...(theirs.length ? [{ mark: "line" as const, colour: css("baseline"), name: `${label}: ${said(theirs)}` }] : [])],
        })}
        table={() => [["rank", "best_seconds", "other_seconds"], ...mine.rank_times.map((time, rank) => [rank, time, other?.rank_times[rank]])]} />}
    </figure>
  );
}
