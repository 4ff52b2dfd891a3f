// Content below the fold: made when it comes into view, or when there is nothing else to do.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { whenIdle } from "../lib/idle.ts";

const MARGIN = "300px"; // of scrolling before it is seen

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
    const takeBack = whenIdle(show);
    return () => { observer.disconnect(); takeBack(); };
  }, [there]);
  return <div ref={holder} style={there ? {} : { minHeight: `${height}px` }}>{there && children}</div>;
}
