// A chart as a picture, and what it shows as a table.
import type uPlot from "uplot";

export type Cell = string | number | boolean | null;

/** The chart as it is on the screen, on a ground of this colour: a PNG. */
export async function pictureOf(plot: uPlot, ground: string): Promise<Blob> {
  const drawn = plot.ctx.canvas;
  const canvas = document.createElement("canvas");
  canvas.width = drawn.width;
  canvas.height = drawn.height;
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("this browser paints no pictures");
  ctx.fillStyle = ground;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(drawn, 0, 0);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => { if (blob) resolve(blob); else reject(new Error("the picture could not be made")); }, "image/png");
  });
}

/** Lines of cells, as RFC 4180 has them. */
export function csvOf(lines: Cell[][]): string {
  return lines.map((line) => `${line.map(quoted).join()}\r\n`).join("");
}

function quoted(cell: Cell): string {
  const text = cell === null ? "" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
