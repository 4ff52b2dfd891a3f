// Zooming and panning along x, besides dragging over a part: with the wheel, with a hand, with keys.
import type uPlot from "uplot";
import { touching } from "./touch.ts";

export type Span = readonly [number, number];

const STEP = 1.25; // of one turn of the wheel
const SECOND_CLICK = 250; // milliseconds in which a click may become a double click

/** A span of the same length, further by a part of it, within the whole. */
export function shifted([min, max]: Span, [low, high]: Span, part: number): Span {
  const by = Math.max(low - min, Math.min(high - max, part * (max - min)));
  return [min + by, max + by];
}

/** A span so many times as long, in which one place stays where it is, within the whole. */
export function scaled([min, max]: Span, [low, high]: Span, place: number, times: number): Span {
  return [Math.max(low, place - (place - min) * times), Math.min(high, place + (max - place) * times)];
}

function spans(u: uPlot): { shown: Span; whole: Span } | null {
  const xs = u.data[0];
  const { min, max } = u.scales["x"] ?? {};
  const [low, high] = [xs[0], xs[xs.length - 1]];
  if (min == null || max == null || low === undefined || high === undefined || low >= high) return null;
  return { shown: [min, max], whole: [low, high] };
}

/** Whether less than all is shown. */
export function isZoomed(u: uPlot): boolean {
  const found = spans(u);
  return found !== null && (found.shown[0] > found.whole[0] || found.shown[1] < found.whole[1]);
}

function show(u: uPlot, [min, max]: Span): void {
  if (max > min) u.setScale("x", { min, max });
}

const waiting = new WeakMap<uPlot, Span>();

/** The same once in a frame, however often a wheel or a hand tells where it is. */
function showSoon(u: uPlot, span: Span): void {
  const asked = waiting.has(u);
  waiting.set(u, span);
  if (asked) return;
  requestAnimationFrame(() => {
    const last = waiting.get(u);
    waiting.delete(u);
    if (last) show(u, last);
  });
}

/** Around the middle, or a place along x. */
export function zoom(u: uPlot, times: number, place?: number): void {
  const found = spans(u);
  if (found) show(u, scaled(found.shown, found.whole, place ?? (found.shown[0] + found.shown[1]) / 2, times));
}

export function pan(u: uPlot, part: number): void {
  const found = spans(u);
  if (found) show(u, shifted(found.shown, found.whole, part));
}

export function showAll(u: uPlot): void {
  const found = spans(u);
  if (found) show(u, found.whole);
}

/** Have a place in view, in the middle where it was not. */
export function reveal(u: uPlot, place: number): void {
  const found = spans(u);
  if (!found) return;
  const [min, max] = found.shown;
  if (place < min || place > max) show(u, shifted(found.shown, found.whole, (place - (min + max) / 2) / (max - min)));
}

/** New data; what is zoomed stays where it is. */
export function renew(u: uPlot, data: uPlot.AlignedData): void {
  const { min, max } = u.scales["x"] ?? {};
  if (!isZoomed(u) || min == null || max == null) { u.setData(data); return; }
  u.batch(() => {
    u.setData(data, false);
    u.setScale("x", { min, max });
  });
}

/** Have something done with what is clicked on, but neither at the end of a drag nor at a double click, which shows all. */
export function onSingleClick<T>(u: uPlot, find: (event: MouseEvent) => T | null, act: (found: T) => void): void {
  let waiting = 0;
  u.over.addEventListener("click", (event) => {
    clearTimeout(waiting);
    const found = event.detail > 1 || u.select.width ? null : find(event);
    if (found !== null) waiting = setTimeout(() => act(found), SECOND_CLICK);
  });
}

/** Ctrl and the wheel or two fingers zoom, the wheel sideways, Shift and dragging or a finger pan; `told` hears whether less than all is shown. */
export function moving(told: (zoomed: boolean) => void = () => undefined): uPlot.Plugin {
  let drop = () => {}; // ends a drag that goes on
  let release = () => {};
  return {
    hooks: {
      init: (u) => {
        u.over.addEventListener("wheel", (event) => {
          const found = spans(u);
          if (!found) return;
          const shown = waiting.get(u) ?? found.shown;
          const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
          if (event.ctrlKey || event.metaKey) {
            const place = shown[0] + (event.offsetX / u.over.clientWidth) * (shown[1] - shown[0]);
            showSoon(u, scaled(shown, found.whole, place, event.deltaY > 0 ? STEP : 1 / STEP));
          }
          else if (sideways && isZoomed(u)) showSoon(u, shifted(shown, found.whole, (event.deltaX || event.deltaY) / u.over.clientWidth));
          else return;
          event.preventDefault();
        }, { passive: false });
        // Before uPlot's own listener, for which a button that goes down begins a zoom.
        u.over.addEventListener("mousedown", (event) => { if (event.shiftKey && event.button === 0) drop = drag(u, event); }, { capture: true });
        release = fingers(u);
      },
      setScale: (u, scale) => { if (scale === "x") told(isZoomed(u)); },
      destroy: (u) => { drop(); release(); waiting.delete(u); },
    },
  };
}

function fingers(u: uPlot): () => void {
  let begun: ReturnType<typeof spans> = null;
  return touching(u.over, {
    begin: () => { begun = spans(u); },
    isZoomed: () => isZoomed(u),
    move: (from, to) => {
      if (!begun) return;
      const { shown: [min, max], whole } = begun;
      const width = u.over.clientWidth;
      const place = min + (from.x / width) * (max - min);
      const length = Math.min(whole[1] - whole[0], (max - min) * (from.spread / to.spread));
      const first = place - (to.x / width) * length;
      showSoon(u, shifted([first, first + length], whole, 0));
    },
  });
}

/** Pans until the button goes up; returns what ends that before. */
function drag(u: uPlot, begun: MouseEvent): () => void {
  begun.stopImmediatePropagation();
  begun.preventDefault();
  const found = spans(u);
  if (!found) return () => {};
  const move = (event: MouseEvent) => showSoon(u, shifted(found.shown, found.whole, (begun.clientX - event.clientX) / u.over.clientWidth));
  const drop = () => {
    document.removeEventListener("mousemove", move);
    document.removeEventListener("mouseup", end);
  };
  const end = () => {
    drop();
    // The click that follows at once is none on a trial; outside of the chart none follows.
    const swallow = (event: MouseEvent) => event.stopImmediatePropagation();
    u.over.addEventListener("click", swallow, { capture: true });
    setTimeout(() => u.over.removeEventListener("click", swallow, { capture: true }), 0);
  };
  document.addEventListener("mousemove", move);
  document.addEventListener("mouseup", end);
  return drop;
}
