// A network as lines and points; cables are as dark and thick as what they carried.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Pen } from "../charts/pen.ts";
import { crosses, farFrom, placeIn, WHOLE, type Place, type View } from "../charts/view.ts";
import { css, ramp } from "../lib/colours.ts";
import { bytes } from "../lib/format.ts";
import { useScheme } from "../lib/hooks.ts";
import type { Drawing, Placement } from "../lib/types.ts";
import { Saving } from "../ui/saving.tsx";
import { ScaleBar } from "../ui/scale.tsx";
import { Zoomable } from "../ui/zoom.tsx";

const SIZE = 400;
const SHARP = 2; // pixels of the canvas for one of those
const EDGE = 16;
const MANY = 500; // cables: so many keep up with the hand only with fewer pixels, and are sharp once the picture rests
const RESTS = 200; // milliseconds after the last movement

function frame(drawing: Drawing) {
  const height = drawing.layout === "levels" ? 200 : Math.max(60, Math.max(...drawing.places.map(([, y]) => y)) * (SIZE - 2 * EDGE) + 2 * EDGE);
  const scale = drawing.layout === "levels" ? height - 2 * EDGE : SIZE - 2 * EDGE;
  const at = (node: number): [number, number] => {
    const [x, y] = drawing.places[node] ?? [0, 0];
    return [EDGE + x * (SIZE - 2 * EDGE), EDGE + y * scale];
  };
  return { height, at };
}

function radius(drawing: Drawing): number {
  const nodes = drawing.places.length;
  return nodes <= 32 ? 6 : nodes <= 128 ? 4 : nodes <= 600 ? 2.5 : 1.4;
}

/** Heavy loads stand out from the ground: dark on light, light on dark. */
function loadColour(share: number, scheme: string): string {
  return scheme === "dark" ? ramp(0.1 + 0.9 * share, "dark") : ramp(0.95 * (1 - share), "light");
}

/** The radius of points: it grows less than the picture, so that zooming tells apart what lies close together. */
function grown(drawing: Drawing, view: View): number {
  return radius(drawing) * Math.sqrt(view.size);
}

/** What is wide as it is on the screen, however near it is looked at. */
type Paint = (pen: Pen, view: View, scheme: string) => void;

/** Have the part that is shown painted over the whole picture. */
function paintPart(pen: Pen, drawing: Drawing, view: View, paint: (pen: Pen) => void): void {
  const { height } = frame(drawing);
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, SIZE, height);
  pen.clip();
  pen.scale(1 / view.size, 1 / view.size);
  pen.translate(-view.x * SIZE, -view.y * height);
  paint(pen);
  pen.restore();
}

/** The picture of a network, in which one can zoom. A canvas: a drawing of thousands of cables does not keep up with the hand. */
function Drawn({ name, label, drawing, view, show, paint, point }: {
  name: string; label: string; drawing: Drawing; view: View; show: (view: View) => void; paint: Paint; point?: (at: Place | null) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useScheme();
  const { height } = frame(drawing);
  const painted = useRef(view);
  useEffect(() => {
    const area = canvas.current;
    const ctx = area?.getContext("2d");
    if (!area || !ctx) return undefined;
    const paintAt = (sharpness: number) => {
      const [wide, high] = [SIZE * sharpness, Math.round(height * sharpness)];
      if (area.width !== wide || area.height !== high) Object.assign(area, { width: wide, height: high });
      ctx.setTransform(sharpness, 0, 0, sharpness, 0, 0);
      ctx.clearRect(0, 0, SIZE, height);
      paint(ctx, view, scheme);
    };
    const isMoving = painted.current !== view && drawing.edges.length > MANY;
    painted.current = view;
    paintAt(isMoving ? 1 : SHARP);
    if (!isMoving) return undefined;
    const rest = setTimeout(() => paintAt(SHARP), RESTS);
    return () => clearTimeout(rest);
  }, [paint, view, scheme, height, drawing]);
  function moved(event: MouseEvent): void {
    if (event.buttons) return; // it is dragged
    const { clientWidth, clientHeight } = event.currentTarget as Element;
    const [x, y] = placeIn(view, [event.offsetX / clientWidth, event.offsetY / clientHeight]);
    point?.([x * SIZE, y * height]);
  }
  return (
    <Zoomable name={name} label={label} view={view} show={show}>
      <canvas class="drawing" ref={canvas} width={SIZE * SHARP} height={Math.round(height * SHARP)} style={{ aspectRatio: `${SIZE} / ${height}` }} role="img" aria-label={label}
        data-view={`${view.x} ${view.y} ${view.size}`} onMouseMove={moved} onMouseLeave={() => point?.(null)} />
    </Zoomable>
  );
}

/** A network without loads, as the form shows it. */
export function Picture({ drawing, label }: { drawing: Drawing; label: string }) {
  const [view, show] = useState(WHOLE);
  const paint = useCallback<Paint>((pen, seen) => paintPart(pen, drawing, seen, () => {
    const { at } = frame(drawing);
    pen.strokeStyle = css("ink-2");
    pen.globalAlpha = 0.45;
    for (const [u, v, width] of drawing.edges) {
      pen.lineWidth = seen.size * Math.min(4, width);
      pen.beginPath();
      pen.moveTo(...at(u));
      pen.lineTo(...at(v));
      pen.stroke();
    }
    pen.globalAlpha = 1;
    paintNodes(pen, drawing, seen, [css("ink-2"), css("ink-2"), css("accent")], () => true);
  }), [drawing]);
  return <Drawn name="the network" label={label} drawing={drawing} view={view} show={show} paint={paint} />;
}

/** Hosts with ranks, idle hosts and switches, in this order of colours. */
function paintNodes(pen: Pen, drawing: Drawing, view: View, colours: readonly [string, string, string], isBusy: (host: number) => boolean): void {
  const { at } = frame(drawing);
  const r = grown(drawing, view);
  drawing.places.forEach((_, node) => {
    pen.fillStyle = colours[node >= drawing.hosts ? 2 : isBusy(node) ? 0 : 1];
    pen.beginPath();
    pen.arc(...at(node), r, 0, 2 * Math.PI);
    pen.fill();
  });
}

/** A network as it is drawn, painted and told. */
function described(placement: Placement, drawing: Drawing) {
  const { loads } = placement;
  const ranksOf = new Map<number, number[]>();
  placement.rank_hosts.forEach((host, rank) => ranksOf.set(host, [...(ranksOf.get(host) ?? []), rank]));
  const load = (i: number): number => {
    const [up, down] = loads?.[i] ?? [0, 0];
    return up + down;
  };
  return {
    loads, ranksOf, load,
    order: drawing.edges.map((_, i) => i).sort((a, b) => load(a) - load(b)),
    heaviest: loads?.reduce((most, [up, down]) => Math.max(most, up, down), 0) ?? null,
    total: loads?.reduce((sum, [up, down]) => sum + up + down, 0) ?? 0,
    idle: loads?.filter(([up, down]) => up + down === 0).length ?? 0,
    name: (node: number) => (node < drawing.hosts ? (drawing.names[node] ?? `host ${node}`) : `switch ${node - drawing.hosts}`),
  };
}

type Described = ReturnType<typeof described>;

function paintNetwork(pen: Pen, drawing: Drawing, { loads, load, order, ranksOf }: Described, most: number, view: View, scheme: string): void {
  const { at } = frame(drawing);
  const plain = css("line");
  paintPart(pen, drawing, view, () => {
    for (const i of order) {
      const [u, v, width] = drawing.edges[i] as [number, number, number];
      const share = load(i) / most;
      pen.strokeStyle = loads && load(i) ? loadColour(share, scheme) : plain;
      pen.lineWidth = view.size * (loads && load(i) ? 0.8 + 3.2 * share : Math.min(3, width));
      pen.beginPath();
      pen.moveTo(...at(u));
      pen.lineTo(...at(v));
      pen.stroke();
    }
    paintNodes(pen, drawing, view, [css("ink-2"), plain, css("accent")], (host) => ranksOf.has(host));
  });
}

const NEAR = 6; // of the picture's own units, from the mouse to what it tells

/** What lies under the mouse, in words: a node, else a cable. */
function saidAt(drawing: Drawing, { loads, name, ranksOf }: Described, [x, y]: Place, view: View): string | null {
  const { at } = frame(drawing);
  const near = NEAR * view.size;
  const node = nearest(drawing.places.length, Math.max(near, grown(drawing, view)), (i) => Math.hypot(at(i)[0] - x, at(i)[1] - y));
  if (node !== null) {
    const ranks = ranksOf.get(node);
    return node < drawing.hosts ? `${name(node)}: ${ranks ? `rank ${ranks.join(", ")}` : "no rank"}` : name(node);
  }
  const cable = nearest(drawing.edges.length, near, (i) => {
    const [u, v] = drawing.edges[i] as [number, number, number];
    return farFrom(at(u), at(v), [x, y]);
  });
  if (cable === null) return null;
  const [u, v] = drawing.edges[cable] as [number, number, number];
  const [up, down] = loads?.[cable] ?? [0, 0];
  return `${name(u)} – ${name(v)}: ${bytes(up)} and ${bytes(down)}`;
}

function nearest(count: number, within: number, far: (i: number) => number): number | null {
  let [found, least]: [number | null, number] = [null, within];
  for (let i = 0; i < count; i += 1) {
    const distance = far(i);
    if (distance <= least) [found, least] = [i, distance];
  }
  return found;
}

export function Network({ job, title, placement, most }: { job: string; title: string; placement: Placement; most: number }) {
  const drawing = placement.network;
  if (!drawing) return <figure><figcaption>{title}</figcaption><p class="quiet">The network has too many cables for a picture.</p></figure>;
  return <LoadedNetwork job={job} title={title} placement={placement} drawing={drawing} most={most} />;
}

function LoadedNetwork({ job, title, placement, drawing, most }: { job: string; title: string; placement: Placement; drawing: Drawing; most: number }) {
  const [spoken, setSpoken] = useState<string | null>(null);
  const [view, show] = useState(WHOLE);
  const told = useMemo(() => described(placement, drawing), [placement, drawing]);
  const { height, at } = frame(drawing);
  const { loads, name, heaviest } = told;
  const paint = useCallback<Paint>((pen, seen, scheme) => paintNetwork(pen, drawing, told, most, seen, scheme), [drawing, told, most]);
  const part = (node: number): Place => {
    const [x, y] = at(node);
    return [x / SIZE, y / height];
  };
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <Drawn name={title} drawing={drawing} view={view} show={show} paint={paint}
        point={(place) => setSpoken(place && saidAt(drawing, told, place, view))}
        label={`${title}: ${drawing.hosts} hosts, ${drawing.edges.length} cables${heaviest === null ? "" : `, the heaviest load is ${bytes(heaviest)} one way`}`} />
      <p class="quiet small-text" aria-hidden="true">{spoken ?? (loads
        ? `Heaviest cable ${bytes(heaviest)} one way · all together ${bytes(told.total)} · ${told.idle} of ${loads.length} cables idle`
        : "The loads of the cables were not recorded.")}</p>
      {loads && <p class="small-text"><ScaleBar colour={loadColour} /> 0 to {bytes(most)} both ways</p>}
      <Saving name={`${job}-network-${title}`}
        figure={() => ({
          title: `${title}: network`, note: loads ? `Heaviest cable ${bytes(heaviest)} one way` : undefined, width: SIZE, height,
          paint: (pen) => paintNetwork(pen, drawing, told, most, view, "light"),
          legend: [
            ...(loads ? [0, 0.5, 1].map((share) => ({ mark: "line" as const, colour: loadColour(share, "light"), name: bytes(share * most) })) : []),
            { mark: "dot" as const, colour: css("ink-2"), name: "host" },
            ...(drawing.switches ? [{ mark: "dot" as const, colour: css("accent"), name: "switch" }] : []),
          ],
        })}
        table={() => [["from", "to", "width", "bytes", "bytes_back"], ...drawing.edges.flatMap(([u, v, width], i) => (
          crosses(view, part(u), part(v)) ? [[name(u), name(v), width, loads?.[i]?.[0], loads?.[i]?.[1]]] : []))]} />
    </figure>
  );
}
