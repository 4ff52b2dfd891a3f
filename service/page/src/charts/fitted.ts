// Texts in pictures that have little room.
import type { Pen } from "./pen.ts";

/** A text that is no wider than its room, with an ellipsis where it is cut. */
export function fitted(pen: Pick<Pen, "measureText">, text: string, room: number): string {
  if (pen.measureText(text).width <= room) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (pen.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
