// Heat maps, the matrix of ranks and hosts, histograms of hops and the times of ranks.
import { useEffect, useRef } from "preact/hooks";
import { css, ramp } from "../lib/colours.ts";
import { bytes, count, duration } from "../lib/format.ts";
import { useScheme, useWidth } from "../lib/hooks.ts";
import type { Heat, Placement } from "../lib/types.ts";

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

/** The least and the most that hosts exchange in some heat maps, which have their colours in common. */
export function amounts(maps: Heat[]): [number, number] {
  const cells = maps.flatMap((one) => one.bytes.flat()).filter((cell) => cell > 0);
  return cells.reduce(([low, high], cell) => [Math.min(low, cell), Math.max(high, cell)], [Infinity, 1]);
}

/** Of an amount on the scale from 0 to 1; never close to the ground, which stands for nothing. */
export function amountColour(share: number, scheme: string): string {
  return scheme === "dark" ? ramp(0.15 + 0.85 * share, "dark") : ramp(0.95 * (1 - share), "light");
}

export function HeatMap({ title, heat: { size, block, bytes: cells }, hops, range: [least, most] }: {
  title: string; heat: Heat; hops: number | null; range: [number, number];
}) {
  const scheme = useScheme();
  const canvas = useCanvas((ctx) => {
    ctx.fillStyle = css("panel-2");
    ctx.fillRect(0, 0, size, size);
    cells.forEach((row, y) => row.forEach((cell, x) => {
      if (!cell) return;
      const share = most > least ? Math.log(cell / least) / Math.log(most / least) : 1;
      ctx.fillStyle = amountColour(share, scheme);
      ctx.fillRect(x, y, 1, 1);
    }));
  }, size, size, [cells, scheme, least, most]);
  const far = hops === null ? "" : `a byte travels ${hops.toFixed(2)} hops on average`;
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <canvas class="matrix" ref={canvas} role="img" aria-label={`${title}: ${size} by ${size} cells of ${block} host${block > 1 ? "s" : ""}, at most ${bytes(most)} in one${far && `; ${far}`}`} />
      {far && <p class="small-text">{far[0]?.toUpperCase()}{far.slice(1)}.</p>}
    </figure>
  );
}

export function RankMatrix({ title, placement }: { title: string; placement: Placement }) {
  const hosts = placement.network?.hosts ?? Math.max(...placement.rank_hosts) + 1;
  const ranks = placement.ranks;
  const across = Math.min(256, hosts);
  const down = Math.min(256, ranks);
  const scheme = useScheme();
  const canvas = useCanvas((ctx) => {
    ctx.fillStyle = css("panel-2");
    ctx.fillRect(0, 0, across, down);
    ctx.fillStyle = css("accent");
    placement.rank_hosts.forEach((host, rank) => ctx.fillRect(Math.floor((host * across) / hosts), Math.floor((rank * down) / ranks), 1, 1));
  }, across, down, [placement, scheme]);
  const inOrder = placement.rank_hosts.every((host, rank) => rank === 0 || host >= (placement.rank_hosts[rank - 1] ?? 0));
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <canvas class="matrix" ref={canvas} role="img" aria-label={`${title}: ${ranks} ranks on ${hosts} hosts, ${inOrder ? "in order" : "not in order"}`} />
      <p class="small-text quiet">ranks downwards, hosts to the right{inOrder ? "; in order" : ""}</p>
      <details class="more"><summary>As a list</summary>
        <pre class="log" tabIndex={0} aria-label="Host of each rank">{placement.rank_hosts.map((host, rank) => `rank ${rank}: ${placement.network?.names[host] ?? host}`).join("\n")}</pre>
      </details>
    </figure>
  );
}

export function HopHistogram({ mine, other, label }: { mine: Placement; other: Placement | null; label: string }) {
  const all = [...new Set([...mine.hops, ...(other?.hops ?? [])].map((one) => one.hops))].sort((a, b) => a - b);
  const most = Math.max(1, ...[...mine.hops, ...(other?.hops ?? [])].map((one) => one.bytes));
  const of = (placement: Placement, hops: number) => placement.hops.find((one) => one.hops === hops);
  return (
    <figure>
      <figcaption>Bytes by the hops between those who exchange them</figcaption>
      {all.length === 0 ? <p class="quiet">The ranks exchange nothing, or the network is too large to measure.</p> : (
        <table class="histogram">
          <thead><tr><th scope="col" class="num">Hops</th><th scope="col">Best</th>{other && <th scope="col">{label}</th>}</tr></thead>
          <tbody>{all.map((hops) => (
            <tr key={hops}><th scope="row" class="num">{hops}</th>
              {[mine, ...(other ? [other] : [])].map((placement, i) => {
                const found = of(placement, hops);
                return <td key={i}><span class="bar"><span style={{ width: `${(100 * (found?.bytes ?? 0)) / most}%` }} /></span><span class="sub">{found ? `${bytes(found.bytes)}, ${count(found.pairs)} pairs` : "none"}</span></td>;
              })}</tr>
          ))}</tbody>
          <tfoot><tr><th scope="row" class="num">Σ</th>{[mine, ...(other ? [other] : [])].map((placement, i) => <td key={i}>{bytes(placement.hop_bytes)} × hops</td>)}</tr></tfoot>
        </table>
      )}
    </figure>
  );
}

const HEIGHT = 190;

export function RankTimes({ mine, other, label }: { mine: Placement; other: Placement | null; label: string }) {
  const [attach, width] = useWidth<HTMLDivElement>();
  const scheme = useScheme();
  const times = (placement: Placement | null) => placement?.rank_times.filter((time): time is number => time !== null) ?? [];
  const [own, theirs] = [times(mine), times(other)];
  const most = Math.max(...own, ...theirs, 1e-12);
  const ratio = typeof devicePixelRatio === "number" ? devicePixelRatio : 1;
  const canvas = useCanvas((ctx) => {
    ctx.scale(ratio, ratio);
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
  }, Math.floor(width * ratio), HEIGHT * ratio, [mine, other, scheme, width]);
  const said = (values: number[]) => (values.length ? `${duration(Math.min(...values))} to ${duration(Math.max(...values))}` : "not recorded");
  return (
    <figure>
      <figcaption>When each rank has finished</figcaption>
      <div ref={attach}><canvas ref={canvas} style={{ width: "100%", height: `${HEIGHT}px` }} role="img" aria-label={`Finish times: best ${said(own)}${other ? `, ${label} ${said(theirs)}` : ""}`} /></div>
      <ul class="legend"><li><span class="dot" style={{ background: "var(--accent)" }} />best: {said(own)}</li>{other && <li><span class="dot" style={{ background: "var(--baseline)" }} />{label}: {said(theirs)}</li>}</ul>
    </figure>
  );
}
