// uPlot as a component: made once, given new data as it comes, made anew when its options change.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { useScheme, useWidth } from "../lib/hooks.ts";
import { toTheLastRow } from "./ends.ts";
import { renew } from "./moving.ts";
import type { PlotOptions } from "./replot.ts";

export interface PlotProps {
  data: uPlot.AlignedData;
  height: number;
  /** Everything but the size; a new object makes a new chart. */
  options: (scheme: string) => PlotOptions;
  /** What the options depend on. */
  when: string;
  label: string;
  onPlot?: (plot: uPlot | null) => void;
}

export function Plot({ data, height, options, when, label, onPlot }: PlotProps) {
  const [attach, width] = useWidth<HTMLDivElement>();
  const holder = useRef<HTMLDivElement | null>(null);
  const plot = useRef<uPlot | null>(null);
  const scheme = useScheme();
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    if (!holder.current || !width) return;
    const made = new uPlot({ ...toTheLastRow(options(scheme)), width, height }, latest.current, holder.current);
    plot.current = made;
    onPlot?.(made);
    return () => {
      onPlot?.(null);
      made.destroy();
      plot.current = null;
    };
  }, [when, scheme, width > 0, height]);
  useEffect(() => { if (plot.current) renew(plot.current, data); }, [data]);
  useEffect(() => {
    if (plot.current && width && plot.current.width !== width) plot.current.setSize({ width, height });
  }, [width, height]);
  return (
    <div class="plot" role="img" aria-label={label} style={{ minHeight: `${height}px` }}
      ref={(element) => { holder.current = element; attach(element); }} />
  );
}
