// Charts that end where their last row is.
import type { PlotOptions } from "./replot.ts";

const HAIR = 1e-9; // of what is shown

/**
 * Options of a chart that draws all rows up to the last one. Of several rows at the end of the x axis uPlot takes the
 * first for the last, unless the axis goes on for a hair.
 */
export function toTheLastRow(options: PlotOptions): PlotOptions {
  const x = options.scales?.["x"];
  if (x?.range) return options;
  return {
    ...options,
    scales: { ...options.scales, x: { ...x, range: (_u, min, max) => (min == null || max == null ? [min, max] : [min, max + (max - min) * HAIR]) } },
  };
}
