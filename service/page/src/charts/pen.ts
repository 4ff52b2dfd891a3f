// What charts are painted with: as much of a canvas's context as they need, so that the same
// painting goes onto the screen, into a PNG and into an SVG.

export const PEN_METHODS = [
  "arc", "beginPath", "bezierCurveTo", "clearRect", "clip", "closePath", "fill", "fillRect", "fillText", "lineTo", "measureText",
  "moveTo", "rect", "restore", "rotate", "save", "scale", "setLineDash", "stroke", "strokeRect", "translate",
] as const;

export const PEN_PROPERTIES = [
  "fillStyle", "font", "globalAlpha", "lineCap", "lineJoin", "lineWidth", "strokeStyle", "textAlign", "textBaseline",
] as const;

export type Pen = Pick<CanvasRenderingContext2D, (typeof PEN_METHODS)[number] | (typeof PEN_PROPERTIES)[number]>;

/** Have what is painted with a context go to another pen, until it is told of yet another. */
export function redirect(context: CanvasRenderingContext2D, pen: Pen): void {
  // Properties of its own hide those of its class.
  for (const name of PEN_METHODS) {
    const method = pen[name] as (...given: unknown[]) => unknown;
    Object.defineProperty(context, name, { configurable: true, value: (...given: unknown[]) => method.apply(pen, given) });
  }
  for (const name of PEN_PROPERTIES) {
    Object.defineProperty(context, name, { configurable: true, get: () => pen[name], set: (value: never) => { pen[name] = value; } });
  }
}
