// Zooming and panning in pictures with two dimensions: what of a picture is shown, as a part of it.

export type Place = readonly [number, number];

/** Where the corner above on the left lies and how long the sides are, in parts of the whole picture. */
export interface View { readonly x: number; readonly y: number; readonly size: number }

export const WHOLE: View = { x: 0, y: 0, size: 1 };

const LEAST = 1 / 64;

export function isWhole(view: View): boolean {
  return view.size >= 1;
}

function within(x: number, y: number, size: number): View {
  const side = Math.max(LEAST, Math.min(1, size));
  const kept = (corner: number) => Math.max(0, Math.min(1 - side, corner));
  return { x: kept(x), y: kept(y), size: side };
}

/** A place told in parts of what is shown, in parts of the whole. */
export function placeIn(view: View, [across, down]: Place): Place {
  return [view.x + across * view.size, view.y + down * view.size];
}

/** A view of the same size, further by parts of what is shown. */
export function shiftedView(view: View, across: number, down: number): View {
  return within(view.x + across * view.size, view.y + down * view.size, view.size);
}

/** A view so many times as large that has a place of the whole where it should be, told in parts of what is shown. */
export function scaledView(view: View, times: number, [x, y]: Place, [across, down]: Place): View {
  const size = Math.max(LEAST, Math.min(1, view.size * times));
  return within(x - across * size, y - down * size, size);
}

/** The least square that holds what lies between two places of the whole, with these in the middle. */
export function around([ax, ay]: Place, [bx, by]: Place): View {
  const size = Math.max(LEAST, Math.abs(bx - ax), Math.abs(by - ay));
  return within((ax + bx - size) / 2, (ay + by - size) / 2, size);
}

/** Whether some of a box is shown. */
export function isShown(view: View, [x, y]: Place, [width, height]: Place): boolean {
  return x + width >= view.x && x <= view.x + view.size && y + height >= view.y && y <= view.y + view.size;
}

/** Whether some of the straight line between two places is shown. */
export function crosses(view: View, [ax, ay]: Place, [bx, by]: Place): boolean {
  let [from, to] = [0, 1];
  const sides: readonly Place[] = [[ax - bx, ax - view.x], [bx - ax, view.x + view.size - ax], [ay - by, ay - view.y], [by - ay, view.y + view.size - ay]];
  for (const [step, room] of sides) {
    if (step === 0) {
      if (room < 0) return false;
    } else if (step < 0) from = Math.max(from, room / step);
    else to = Math.min(to, room / step);
  }
  return from <= to;
}

/** How far a place is from the straight line between two others. */
export function farFrom([ax, ay]: Place, [bx, by]: Place, [x, y]: Place): number {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const share = length ? Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
  return Math.hypot(ax + share * dx - x, ay + share * dy - y);
}
