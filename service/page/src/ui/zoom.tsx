// A picture in which one can zoom and pan: with the mouse, the wheel, fingers, keys and buttons, as in the charts.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { touching } from "../charts/touch.ts";
import { around, isWhole, placeIn, scaledView, shiftedView, WHOLE, type Place, type View } from "../charts/view.ts";

const STEP = 1.25; // of a key, a button and a turn of the wheel
const PAN = 0.2; // of what is shown, of an arrow
const CLICK = 5; // pixels: a shorter way is no dragging
const MIDDLE: Place = [0.5, 0.5];

export function ZoomButtons({ name, zoom, all, zoomed }: {
  /** Of the picture, for who hears the buttons only. */
  name: string; zoom: (times: number) => void; all: () => void; zoomed: boolean;
}) {
  return (
    <span class="saving" role="group" aria-label={`Zoom ${name}`}>
      <button type="button" class="small" aria-label={`Zoom in: ${name}`} onClick={() => zoom(1 / STEP)}>+</button>
      <button type="button" class="small" aria-label={`Zoom out: ${name}`} disabled={!zoomed} onClick={() => zoom(STEP)}>−</button>
      <button type="button" class="small" aria-label={`Show all: ${name}`} disabled={!zoomed} onClick={all}>Show all</button>
    </span>
  );
}

/** How a chart over trials is moved: by the mouse, or where there is none by fingers. */
export function Moving() {
  return (
    <span class="quiet small-text">
      <span class="for-mouse">Drag to zoom, Shift and drag to pan, double-click to show all.</span>
      <span class="for-fingers">Two fingers zoom; once less than all is shown, one finger pans.</span>
    </span>
  );
}

function scaled(view: View, times: number, at: Place = MIDDLE): View {
  return scaledView(view, times, placeIn(view, at), at);
}

interface Box { left: number; top: number; width: number; height: number }

export function Zoomable({ name, label, view, show, children }: {
  name: string;
  /** What the picture shows; how it is moved is added. */
  label: string;
  view: View; show: (view: View) => void; children: ComponentChildren;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [box, setBox] = useState<Box | null>(null);
  const move = useShown(view, show);
  usePointing(frame, move, setBox);
  function key(event: KeyboardEvent) {
    const { current } = move;
    const arrows: Record<string, Place> = { ArrowLeft: [-PAN, 0], ArrowRight: [PAN, 0], ArrowUp: [0, -PAN], ArrowDown: [0, PAN] };
    const arrow = arrows[event.key];
    if (event.key === "+" || event.key === "-") current.to(scaled(current.view, event.key === "+" ? 1 / STEP : STEP));
    else if (event.key === "0") current.to(WHOLE);
    else if (arrow && !isWhole(current.view)) current.to(shiftedView(current.view, ...arrow));
    else return;
    event.preventDefault();
  }
  return (
    <>
      <div class={isWhole(view) ? "zoomable" : "zoomable zoomed"} ref={frame} tabIndex={0} role="application" onKeyDown={key}
        aria-label={`${label}. Plus and minus zoom, arrow keys pan, 0 shows all.`}>
        {children}
        {box && <span class="zoom-box" style={{ left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px`, height: `${box.height}px` }} />}
      </div>
      <ZoomButtons name={name} zoomed={!isWhole(view)} zoom={(times) => move.current.to(scaled(move.current.view, times))} all={() => move.current.to(WHOLE)} />
    </>
  );
}

interface Moving { view: View; to(view: View): void }

/** What is shown, as listeners see it that are made once; it is painted once in a frame. */
function useShown(view: View, show: (view: View) => void): { current: Moving } {
  const frame = useRef(0);
  const latest = useRef(show);
  latest.current = show;
  const moving = useRef<Moving>({
    view,
    to(next) {
      moving.current.view = next;
      frame.current ||= requestAnimationFrame(() => {
        frame.current = 0;
        latest.current(moving.current.view);
      });
    },
  });
  if (!frame.current) moving.current.view = view;
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  return moving;
}

/** The mouse, its wheel and fingers. */
function usePointing(frame: { current: HTMLDivElement | null }, move: { current: Moving }, setBox: (box: Box | null) => void): void {
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const at = (event: MouseEvent): Place => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return [(event.clientX - left) / width, (event.clientY - top) / height];
    };
    function wheel(event: WheelEvent): void {
      const { current } = move;
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (event.ctrlKey || event.metaKey) current.to(scaled(current.view, event.deltaY > 0 ? STEP : 1 / STEP, at(event)));
      else if (sideways && !isWhole(current.view)) current.to(shiftedView(current.view, (event.deltaX || event.deltaY) / element!.clientWidth, 0));
      else return;
      event.preventDefault();
    }
    let drop = () => {}; // ends a drag that goes on
    function down(event: MouseEvent): void {
      if (event.button !== 0) return;
      event.preventDefault(); // which would choose text, and keeps the keys from coming here
      element!.focus({ preventScroll: true });
      drop();
      drop = event.shiftKey ? panning(event) : choosing(event);
    }
    function panning(begun: MouseEvent): () => void {
      const { view } = move.current;
      const [x, y] = at(begun);
      return following((event) => {
        const [across, down] = at(event);
        move.current.to(shiftedView(view, x - across, y - down));
      }, () => {});
    }
    function choosing(begun: MouseEvent): () => void {
      const from = at(begun);
      const { clientWidth: width, clientHeight: height } = element!;
      const far = ([x, y]: Place) => Math.max(Math.abs(x - from[0]) * width, Math.abs(y - from[1]) * height) > CLICK;
      return following((event) => {
        const to = at(event);
        setBox(far(to) ? {
          left: Math.min(from[0], to[0]) * width, top: Math.min(from[1], to[1]) * height, width: Math.abs(to[0] - from[0]) * width, height: Math.abs(to[1] - from[1]) * height,
        } : null);
      }, (event) => {
        setBox(null);
        const { current } = move;
        if (event && far(at(event))) current.to(around(placeIn(current.view, from), placeIn(current.view, at(event))));
      });
    }
    const all = () => move.current.to(WHOLE);
    let begun = move.current.view;
    const release = touching(element, {
      begin: () => { begun = move.current.view; },
      isZoomed: () => !isWhole(move.current.view),
      move: (from, to) => {
        const { clientWidth: width, clientHeight: height } = element;
        move.current.to(scaledView(begun, from.spread / to.spread, placeIn(begun, [from.x / width, from.y / height]), [to.x / width, to.y / height]));
      },
    });
    element.addEventListener("wheel", wheel, { passive: false });
    element.addEventListener("mousedown", down);
    element.addEventListener("dblclick", all);
    return () => {
      drop();
      release();
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("mousedown", down);
      element.removeEventListener("dblclick", all);
    };
  }, []);
}

/** Follow the mouse until its button goes up; returns what ends that before. */
function following(moved: (event: MouseEvent) => void, ended: (event: MouseEvent | null) => void): () => void {
  const stop = () => {
    document.removeEventListener("mousemove", moved);
    document.removeEventListener("mouseup", up);
  };
  const up = (event: MouseEvent) => { stop(); ended(event); };
  document.addEventListener("mousemove", moved);
  document.addEventListener("mouseup", up);
  return stop;
}
