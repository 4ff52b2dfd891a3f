// A trial under the mouse, or where the keys have gone: its time and its configuration.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { clock, duration, gain, short } from "../lib/format.ts";
import type { Row } from "../lib/table.ts";

const MOST_LINES = 12;
const LINE = 19; // pixels
const MOST_LETTERS = 36;
const MOST_SAID = 40; // parameters that are read out

/** What is told of a trial; no parameters: they are on their way. */
export type Told = Pick<Row, "number" | "state" | "cached" | "value"> & Partial<Pick<Row, "label" | "technique" | "kind" | "wall">> & {
  /** Whose it is, where there are several jobs. */
  job?: string;
  parameters: ReadonlyMap<string, unknown> | null;
  /** How many other trials differ from it in nothing but their number. */
  alike?: number;
};

/** A place on a chart in pixels, and what lies there. */
export interface Hovered { row: Told; left: number; top: number }

export function TrialTip({ row, best, left, top }: { row: Told; best: number | null; left: number; top: number }) {
  const box = useRef<HTMLDivElement>(null);
  const all = [...(row.parameters ?? [])];
  const shown = all.slice(0, all.length > MOST_LINES ? MOST_LINES - 1 : MOST_LINES);
  const below = top < (shown.length + 4) * LINE;
  // As far to the side as it takes to stay in the chart.
  useLayoutEffect(() => {
    const element = box.current;
    const room = (element?.offsetParent as HTMLElement | null)?.clientWidth;
    if (!element || !room) return;
    const half = element.offsetWidth / 2;
    element.style.left = `${Math.max(Math.min(left, room - half), Math.min(half, room / 2))}px`;
  }, [left, row]);
  const by = row.label ?? row.technique ?? row.kind;
  return (
    <div class={below ? "tip below" : "tip"} ref={box} style={{ left: `${left}px`, top: `${top}px` }} aria-hidden="true">
      {row.job !== undefined && <div>{cut(row.job)}</div>}
      <b>Trial {row.number}</b> {row.state}{row.cached ? ", cached" : ""}{row.alike ? `, and ${row.alike} more like it` : ""}
      <div>{row.state === "censored" ? "more than " : ""}{duration(row.value)}{row.value && best ? ` (${gain(row.value / best)} over the best)` : ""}</div>
      {by !== undefined && row.wall !== undefined && <div class="quiet">{by} · after {clock(row.wall)}</div>}
      {row.parameters === null && <div class="quiet">…</div>}
      {shown.map(([name, value]) => <div key={name}><span class="quiet">{short(name)}</span> {cut(String(value))}</div>)}
      {all.length > shown.length && <div class="quiet">and {all.length - shown.length} more</div>}
    </div>
  );
}

/** What is under the mouse: painting thousands of points anew for each of its moves would be felt. */
export function TipOverlay({ best, tell }: { best: number | null; tell: { current: (at: Hovered | null) => void } }) {
  const [at, setAt] = useState<Hovered | null>(null);
  useEffect(() => {
    tell.current = (next) => setAt((old) => (old?.row === next?.row && old?.left === next?.left && old?.top === next?.top ? old : next));
    // Another width puts everything elsewhere.
    const resized = () => setAt(null);
    window.addEventListener("resize", resized);
    return () => {
      tell.current = () => undefined;
      window.removeEventListener("resize", resized);
    };
  }, []);
  if (!at) return null;
  return (
    <>
      <span class="ring-mark" aria-hidden="true" style={{ left: `${at.left}px`, top: `${at.top}px` }} />
      <TrialTip row={at.row} best={best} left={at.left} top={at.top} />
    </>
  );
}

/** The same for who does not see it. */
export function said(row: Told): string {
  const technique = row.technique ? `, ${row.technique}` : "";
  const values = [...(row.parameters ?? [])].slice(0, MOST_SAID).map(([name, value]) => `${short(name)} ${cut(String(value))}`);
  return `${row.job === undefined ? "" : `${row.job}, `}Trial ${row.number}: ${row.state}${row.cached ? ", cached" : ""}, ${duration(row.value)}${technique}${values.length ? `; ${values.join(", ")}` : ""}`;
}

function cut(text: string): string {
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1)}…` : text;
}
