// Content below the fold: made when it comes into view, or when there is nothing else to do.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const MARGIN = "300px"; // of scrolling before it is seen

/** All that wait for an idle moment; one is made in each, so that none is felt. */
const waiting = new Set<() => void>();
let asked = false;

function whenIdle(): void {
  if (asked || waiting.size === 0) return;
  asked = true;
  const turn = () => {
    asked = false;
    const [first] = waiting;
    if (first) {
      waiting.delete(first);
      first();
    }
    whenIdle();
  };
  if (typeof requestIdleCallback === "function") requestIdleCallback(turn, { timeout: 2000 });
  else setTimeout(turn, 100);
}

export function InView({ height, children }: { height: number; children: ComponentChildren }) {
  const holder = useRef<HTMLDivElement>(null);
  const [there, setThere] = useState(false);
  useEffect(() => {
    if (there || !holder.current) return;
    const show = () => setThere(true);
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) show();
    }, { rootMargin: MARGIN });
    observer.observe(holder.current);
    waiting.add(show);
    whenIdle();
    return () => { observer.disconnect(); waiting.delete(show); };
  }, [there]);
  return <div ref={holder} style={there ? {} : { minHeight: `${height}px` }}>{there && children}</div>;
}
