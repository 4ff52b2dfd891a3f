// A chart as it goes into a report: its title above, its legend below, on white.
import { css } from "../lib/colours.ts";
import type { Pen } from "./pen.ts";
import { SvgDrawing } from "./svg.ts";

export type Mark = "dot" | "ring" | "triangle" | "cross" | "line" | "dashes" | "swatch";

export interface Entry { mark: Mark; colour: string; name: string }

export interface Figure {
  title: string;
  /** What has to be known beside it, such as that it shows a sample. */
  note?: string | undefined;
  /** Of the chart alone, in pixels of the page. */
  width: number;
  height: number;
  legend?: Entry[];
  /** Paints the chart, from the corner above on the left. */
  paint(pen: Pen): void;
}

const MARGIN = 12;
const TITLE = 22;
const LINE = 18;
const FONT = "12px system-ui, sans-serif";
const SHARP = 2; // pixels of a PNG for one of the page, for print

interface Placed { entry: Entry; x: number; y: number }

/** Entries of a legend from left to right, in as many lines as they need; and how many these are. */
export function laid(legend: Entry[], widths: number[], room: number): { placed: Placed[]; lines: number } {
  let [x, line] = [0, 0];
  const placed = legend.map((entry, i) => {
    const wide = (widths[i] ?? 0) + 34;
    if (x > 0 && x + wide > room) { x = 0; line += 1; }
    const found = { entry, x, y: line * LINE };
    x += wide;
    return found;
  });
  return { placed, lines: placed.length ? line + 1 : 0 };
}

/** As wide and high as it is with title and legend, and what paints all of it. */
export function framed(figure: Figure, measure: (text: string, font: string) => TextMetrics): { width: number; height: number; paint(pen: Pen): void } {
  const legend = figure.legend ?? [];
  const { placed, lines } = laid(legend, legend.map((one) => measure(one.name, FONT).width), figure.width);
  const top = MARGIN + TITLE + (figure.note ? LINE : 0);
  const width = figure.width + 2 * MARGIN;
  const height = top + figure.height + (lines ? lines * LINE + 8 : 0) + MARGIN;
  function paint(pen: Pen): void {
    pen.fillStyle = css("panel");
    pen.fillRect(0, 0, width, height);
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillStyle = css("ink");
    pen.font = "600 14px system-ui, sans-serif";
    pen.fillText(figure.title, MARGIN, MARGIN + 12);
    pen.font = FONT;
    pen.fillStyle = css("ink-2");
    if (figure.note) pen.fillText(figure.note, MARGIN, MARGIN + TITLE + 8);
    for (const { entry, x, y } of placed) paintEntry(pen, entry, MARGIN + x, top + figure.height + 8 + y + LINE / 2);
    pen.save();
    pen.translate(MARGIN, top);
    figure.paint(pen);
    pen.restore();
  }
  return { width, height, paint };
}

function paintEntry(pen: Pen, { mark, colour, name }: Entry, x: number, y: number): void {
  const [middle, r] = [x + 7, 3.5];
  pen.save();
  pen.fillStyle = pen.strokeStyle = colour;
  pen.lineWidth = mark === "line" ? 2.2 : 1.4;
  pen.beginPath();
  if (mark === "dot" || mark === "ring") pen.arc(middle, y, r, 0, 2 * Math.PI);
  else if (mark === "swatch") pen.rect(x, y - 5, 14, 10);
  else if (mark === "triangle") { pen.moveTo(middle - r, y + r * 0.6); pen.lineTo(middle, y - r); pen.lineTo(middle + r, y + r * 0.6); }
  else if (mark === "cross") { pen.moveTo(middle - r, y - r); pen.lineTo(middle + r, y + r); pen.moveTo(middle + r, y - r); pen.lineTo(middle - r, y + r); }
  else {
    if (mark === "dashes") pen.setLineDash([4, 3]);
    pen.moveTo(x, y);
    pen.lineTo(x + 14, y);
  }
  if (mark === "dot" || mark === "swatch") pen.fill();
  else pen.stroke();
  pen.restore();
  pen.fillStyle = css("ink-2");
  pen.fillText(name, x + 20, y + 4);
}

/** What is done at once with the colours of light ground, which is what paper has. */
function inLight<T>(work: () => T): T {
  const { dataset } = document.documentElement;
  const before = dataset["theme"];
  dataset["theme"] = "light";
  try {
    return work();
  } finally {
    if (before === undefined) delete dataset["theme"];
    else dataset["theme"] = before;
  }
}

function context(): CanvasRenderingContext2D {
  const found = document.createElement("canvas").getContext("2d");
  if (!found) throw new Error("this browser paints no pictures");
  return found;
}

function ruler(): (text: string, font: string) => TextMetrics {
  const ctx = context();
  return (text, font) => {
    ctx.font = font;
    return ctx.measureText(text);
  };
}

/** The figure as vectors. `make` is asked for it with the colours of light ground in force. */
export function svgOf(make: () => Figure): Blob {
  return inLight(() => {
    const measure = ruler();
    const figure = make();
    const { width, height, paint } = framed(figure, measure);
    const drawing = new SvgDrawing(measure);
    paint(drawing);
    return new Blob([drawing.document(width, height, figure.title)], { type: "image/svg+xml" });
  });
}

/** The same as pixels. */
export async function pngOf(make: () => Figure): Promise<Blob> {
  const ctx = inLight(() => {
    const { width, height, paint } = framed(make(), ruler());
    const pen = context();
    pen.canvas.width = Math.ceil(width * SHARP);
    pen.canvas.height = Math.ceil(height * SHARP);
    pen.scale(SHARP, SHARP);
    paint(pen);
    return pen;
  });
  return new Promise((resolve, reject) => {
    ctx.canvas.toBlob((blob) => { if (blob) resolve(blob); else reject(new Error("the picture could not be made")); }, "image/png");
  });
}
