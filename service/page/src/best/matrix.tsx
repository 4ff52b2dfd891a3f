// Heat maps of what hosts exchange, and the matrix of ranks and hosts: cells in which one can zoom.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Figure } from "../charts/figure.ts";
import type { Pen } from "../charts/pen.ts";
import { isShown, WHOLE, type View } from "../charts/view.ts";
import { css, ramp } from "../lib/colours.ts";
import { bytes } from "../lib/format.ts";
import { useScheme } from "../lib/hooks.ts";
import type { Heat, Placement } from "../lib/types.ts";
import { Saving } from "../ui/saving.tsx";
import { Zoomable } from "../ui/zoom.tsx";

const SIDE = 400; // pixels of a side where one is saved
const SHARP = 2; // pixels of the canvas for one of those

/** The least and the most that hosts exchange in some heat maps, which have their colours in common. */
export function amounts(maps: Heat[]): [number, number] {
  const cells = maps.flatMap((one) => one.bytes.flat()).filter((cell) => cell > 0);
  return cells.reduce(([low, high], cell) => [Math.min(low, cell), Math.max(high, cell)], [Infinity, 1]);
}

/** Of an amount on the scale from 0 to 1; never close to the ground, which stands for nothing. */
export function amountColour(share: number, scheme: string): string {
  return scheme === "dark" ? ramp(0.15 + 0.85 * share, "dark") : ramp(0.95 * (1 - share), "light");
}

interface Cells {
  across: number;
  down: number;
  /** Paints the cells of one pixel that `seen` lets through. */
  paint(pen: Pen, seen: (x: number, y: number) => boolean): void;
}

const EVERY = () => true;

function seenIn({ across, down }: Cells, view: View): (x: number, y: number) => boolean {
  const cell = [1 / across, 1 / down] as const;
  // What only touches the edge is not seen.
  const inner = { x: view.x + 1e-9, y: view.y + 1e-9, size: view.size - 2e-9 };
  return (x, y) => isShown(inner, [x / across, y / down], cell);
}

/** The part that is shown, as it is saved. */
function figureOf(cells: Cells, view: View): Pick<Figure, "width" | "height" | "paint"> {
  return {
    width: SIDE, height: SIDE,
    paint: (pen) => {
      pen.beginPath();
      pen.rect(0, 0, SIDE, SIDE);
      pen.clip();
      pen.scale(SIDE / cells.across / view.size, SIDE / cells.down / view.size);
      pen.translate(-view.x * cells.across, -view.y * cells.down);
      pen.fillStyle = css("panel-2");
      pen.fillRect(0, 0, cells.across, cells.down);
      cells.paint(pen, seenIn(cells, view));
    },
  };
}

/** Cells, painted once and enlarged from there; `told` says what is under the mouse. */
function Matrix({ name, label, cells, view, show, tell }: {
  name: string; label: string; cells: Cells; view: View; show: (view: View) => void; tell: (cell: readonly [number, number] | null) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useScheme();
  const { across, down } = cells;
  const source = useMemo(() => {
    const made = document.createElement("canvas");
    [made.width, made.height] = [across, down];
    const ctx = made.getContext("2d");
    if (ctx) {
      ctx.fillStyle = css("panel-2");
      ctx.fillRect(0, 0, across, down);
      cells.paint(ctx, EVERY);
    }
    return made;
  }, [cells, scheme]);
  useEffect(() => {
    const ctx = canvas.current?.getContext("2d");
    if (!ctx) return;
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(source, view.x * across, view.y * down, view.size * across, view.size * down, 0, 0, SIDE * SHARP, SIDE * SHARP);
  }, [source, view]);
  function under(event: MouseEvent): void {
    if (event.buttons) return; // it is dragged
    const { width, height } = (event.currentTarget as Element).getBoundingClientRect();
    const place = (share: number, part: number, many: number) => Math.max(0, Math.min(many - 1, Math.floor((part + share * view.size) * many)));
    tell([place(event.offsetX / width, view.x, across), place(event.offsetY / height, view.y, down)]);
  }
  return (
    <Zoomable name={name} label={label} view={view} show={show}>
      <canvas class="matrix" ref={canvas} width={SIDE * SHARP} height={SIDE * SHARP} role="img" aria-label={label}
        onMouseMove={under} onMouseLeave={() => tell(null)} />
    </Zoomable>
  );
}

export function HeatMap({ job, title, heat: { size, block, bytes: amount }, hops, range: [least, most] }: {
  /** Its id. */
  job: string; title: string; heat: Heat; hops: number | null; range: [number, number];
}) {
  const scheme = useScheme();
  const [view, show] = useState(WHOLE);
  const [cell, tell] = useState<readonly [number, number] | null>(null);
  const cellsIn = (colours: string): Cells => ({
    across: size, down: size,
    paint: (pen, seen) => amount.forEach((row, y) => row.forEach((one, x) => {
      if (!one || !seen(x, y)) return;
      pen.fillStyle = amountColour(most > least ? Math.log(one / least) / Math.log(most / least) : 1, colours);
      pen.fillRect(x, y, 1, 1);
    })),
  });
  const cells = useMemo(() => cellsIn(scheme), [amount, scheme, least, most]);
  const far = hops === null ? "" : `a byte travels ${hops.toFixed(2)} hops on average`;
  const hosts = (i: number) => (block > 1 ? `hosts ${i * block} to ${(i + 1) * block - 1}` : `host ${i}`);
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <Matrix name={title} cells={cells} view={view} show={show} tell={tell}
        label={`${title}: ${size} by ${size} cells of ${block} host${block > 1 ? "s" : ""}, at most ${bytes(most)} in one${far && `; ${far}`}`} />
      <p class="small-text quiet" aria-hidden="true">{cell ? `${hosts(cell[1])} to ${hosts(cell[0])}: ${bytes(amount[cell[1]]?.[cell[0]] ?? 0)}` : "senders downwards, receivers to the right"}</p>
      {far && <p class="small-text">{far[0]?.toUpperCase()}{far.slice(1)}.</p>}
      <Saving name={`${job}-traffic-${title}`}
        figure={() => ({
          ...figureOf(cellsIn("light"), view), title: `Traffic between hosts. ${title}`, note: far || undefined,
          legend: [[0, least], [0.5, Math.sqrt(least * most)], [1, most]].map(([share = 0, one]) => ({ mark: "swatch" as const, colour: amountColour(share, "light"), name: bytes(one) })),
        })}
        table={() => {
          const seen = seenIn(cells, view);
          return [["from", "to", "bytes"], ...amount.flatMap((row, y) => row.flatMap((one, x) => (one && seen(x, y) ? [[y * block, x * block, one]] : [])))];
        }} />
    </figure>
  );
}

const MOST_CELLS = 256;

export function RankMatrix({ job, title, placement }: { job: string; title: string; placement: Placement }) {
  const { ranks, rank_hosts: hostOf, network } = placement;
  const [view, show] = useState(WHOLE);
  const [cell, tell] = useState<readonly [number, number] | null>(null);
  const scheme = useScheme();
  const hosts = network?.hosts ?? hostOf.reduce((most, host) => Math.max(most, host), 0) + 1;
  const [across, down] = [Math.min(MOST_CELLS, hosts), Math.min(MOST_CELLS, ranks)];
  const column = (host: number) => Math.floor((host * across) / hosts);
  const line = (rank: number) => Math.floor((rank * down) / ranks);
  const cells = useMemo<Cells>(() => ({
    across, down,
    paint: (pen, seen) => {
      pen.fillStyle = css("accent");
      hostOf.forEach((host, rank) => { if (seen(column(host), line(rank))) pen.fillRect(column(host), line(rank), 1, 1); });
    },
  }), [placement, scheme]);
  const named = (host: number) => network?.names[host] ?? `host ${host}`;
  const inOrder = hostOf.every((host, rank) => rank === 0 || host >= (hostOf[rank - 1] ?? 0));
  const found = cell ? hostOf.flatMap((host, rank) => (line(rank) === cell[1] ? [`rank ${rank} on ${named(host)}`] : [])) : [];
  const said = found.length > 3 ? `${found.slice(0, 3).join(", ")} and ${found.length - 3} more` : found.join(", ");
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <Matrix name={title} cells={cells} view={view} show={show} tell={tell} label={`${title}: ${ranks} ranks on ${hosts} hosts, ${inOrder ? "in order" : "not in order"}`} />
      <p class="small-text quiet">{said || `ranks downwards, hosts to the right${inOrder ? "; in order" : ""}`}</p>
      <Saving name={`${job}-${title}`}
        figure={() => ({ ...figureOf(cells, view), title, note: "ranks downwards, hosts to the right" })}
        table={() => {
          const seen = seenIn(cells, view);
          return [["rank", "host"], ...hostOf.flatMap((host, rank) => (seen(column(host), line(rank)) ? [[rank, network?.names[host] ?? host]] : []))];
        }} />
      <details class="more"><summary>As a list</summary>
        <pre class="log" tabIndex={0} aria-label="Host of each rank">{hostOf.map((host, rank) => `rank ${rank}: ${network?.names[host] ?? host}`).join("\n")}</pre>
      </details>
    </figure>
  );
}
