// A network as lines and points; cables are as dark and thick as what they carried.
import { useState } from "preact/hooks";
import { ramp } from "../lib/colours.ts";
import { bytes } from "../lib/format.ts";
import { useScheme } from "../lib/hooks.ts";
import type { Drawing, Placement } from "../lib/types.ts";
import { ScaleBar } from "../ui/scale.tsx";

const SIZE = 400;
const EDGE = 16;

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

/** A network without loads, as the form shows it. */
export function Picture({ drawing, label }: { drawing: Drawing; label: string }) {
  const { height, at } = frame(drawing);
  const r = radius(drawing);
  return (
    <svg class="drawing" viewBox={`0 0 ${SIZE} ${height}`} role="img" aria-label={label}>
      {drawing.edges.map(([u, v, width]) => {
        const [a, b] = [at(u), at(v)];
        return <line key={`${u}-${v}`} class="cable plain" x1={a[0]} y1={a[1]} x2={b[0]} y2={b[1]} stroke-width={Math.min(4, width)} />;
      })}
      {drawing.places.map((_, node) => {
        const [x, y] = at(node);
        return <circle key={node} class={node < drawing.hosts ? "host" : "switch"} cx={x} cy={y} r={r} />;
      })}
    </svg>
  );
}

export function Network({ title, placement, most }: { title: string; placement: Placement; most: number }) {
  const scheme = useScheme();
  const [spoken, setSpoken] = useState<string | null>(null);
  const drawing = placement.network;
  if (!drawing) return <figure><figcaption>{title}</figcaption><p class="quiet">The network has too many cables for a picture.</p></figure>;
  const { height, at } = frame(drawing);
  const r = radius(drawing);
  const ranksOf = new Map<number, number[]>();
  placement.rank_hosts.forEach((host, rank) => ranksOf.set(host, [...(ranksOf.get(host) ?? []), rank]));
  const loads = placement.loads;
  const order = drawing.edges.map((_, i) => i).sort((a, b) => load(a) - load(b));
  function load(i: number): number {
    const [up, down] = loads?.[i] ?? [0, 0];
    return up + down;
  }
  const heaviest = loads ? Math.max(...loads.map(([up, down]) => Math.max(up, down))) : null;
  const total = loads?.reduce((sum, [up, down]) => sum + up + down, 0) ?? 0;
  const idle = loads?.filter(([up, down]) => up + down === 0).length ?? 0;
  const name = (node: number) => (node < drawing.hosts ? (drawing.names[node] ?? `host ${node}`) : `switch ${node - drawing.hosts}`);
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <svg class="drawing" viewBox={`0 0 ${SIZE} ${height}`} role="img"
        aria-label={`${title}: ${drawing.hosts} hosts, ${drawing.edges.length} cables${heaviest === null ? "" : `, the heaviest load is ${bytes(heaviest)} one way`}`}
        onMouseLeave={() => setSpoken(null)}>
        {order.map((i) => {
          const [u, v, width] = drawing.edges[i] as [number, number, number];
          const [a, b] = [at(u), at(v)];
          const share = load(i) / most;
          const [up, down] = loads?.[i] ?? [0, 0];
          return <line key={i} class={loads && load(i) ? "loaded" : "cable"} x1={a[0]} y1={a[1]} x2={b[0]} y2={b[1]}
            stroke={loads && load(i) ? loadColour(share, scheme) : undefined}
            stroke-width={loads && load(i) ? 0.8 + 3.2 * share : Math.min(3, width)}
            onMouseEnter={() => setSpoken(`${name(u)} – ${name(v)}: ${bytes(up)} and ${bytes(down)}`)} />;
        })}
        {drawing.places.map((_, node) => {
          const [x, y] = at(node);
          const ranks = ranksOf.get(node);
          return <circle key={node} class={node >= drawing.hosts ? "switch" : ranks ? "host" : "host idle"} cx={x} cy={y} r={r}
            onMouseEnter={() => setSpoken(node < drawing.hosts ? `${name(node)}: ${ranks ? `rank ${ranks.join(", ")}` : "no rank"}` : name(node))} />;
        })}
      </svg>
      <p class="quiet small-text" aria-hidden="true">{spoken ?? (loads
        ? `Heaviest cable ${bytes(heaviest)} one way · all together ${bytes(total)} · ${idle} of ${loads.length} cables idle`
        : "The loads of the cables were not recorded.")}</p>
      {loads && <p class="small-text"><ScaleBar colour={loadColour} /> 0 to {bytes(most)} both ways</p>}
    </figure>
  );
}
