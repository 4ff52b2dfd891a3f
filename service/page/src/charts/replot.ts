// A plot of uPlot once more, painted with another pen: as large, as far zoomed, in light.
import uPlot from "uplot";
import { toTheLastRow } from "./ends.ts";
import { redirect, type Pen } from "./pen.ts";
import { SvgDrawing, SvgPath } from "./svg.ts";

export type PlotOptions = Omit<uPlot.Options, "width" | "height">;

/** Paint what a plot shows. `options` are those of its making, for a colour scheme. */
export function replot(pen: Pen, plot: uPlot, options: (scheme: string) => PlotOptions): void {
  const paths = globalThis.Path2D;
  // uPlot keeps its curves as paths, of which a browser does not tell what they are.
  if (pen instanceof SvgDrawing) globalThis.Path2D = SvgPath as unknown as typeof Path2D;
  pen.save();
  pen.scale(1 / devicePixelRatio, 1 / devicePixelRatio);
  const twin = new uPlot({ ...toTheLastRow(options("light")), width: plot.width, height: plot.height }, plot.data, document.createElement("div"));
  redirect(twin.ctx, pen);
  try {
    const { min, max } = plot.scales["x"] ?? {};
    twin.batch(() => { if (min != null && max != null) twin.setScale("x", { min, max }); });
  } finally {
    // It paints once more when its own turn comes, which nobody needs.
    redirect(twin.ctx, new SvgDrawing(() => new DOMRect() as unknown as TextMetrics));
    twin.destroy();
    pen.restore();
    globalThis.Path2D = paths;
  }
}
