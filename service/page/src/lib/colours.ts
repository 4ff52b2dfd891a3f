// Colours that stay apart for most eyes, on light and on dark ground (after Okabe and Ito).

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8f6b00", "#56b4e9", "#7a4fbf", "#5f6b7a"];
const DARK = ["#5db1ea", "#ff9152", "#3fd0a3", "#eba2cb", "#e6c229", "#9ad8ff", "#b79cf5", "#a8b3c0"];

export function palette(scheme: string): string[] {
  return scheme === "dark" ? DARK : LIGHT;
}

export function colourOf(index: number, scheme: string): string {
  const colours = palette(scheme);
  return colours[((index % colours.length) + colours.length) % colours.length] as string;
}

/** A colour of the style sheet, for canvases. */
export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const RAMP: [number, number, number][] = [
  [68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37],
];
const RAMP_DARK: [number, number, number][] = [
  [96, 60, 140], [82, 104, 184], [60, 146, 180], [58, 190, 150], [140, 220, 100], [253, 231, 80],
];

/** From 0 to 1 along a ramp of even lightness (viridis). */
export function ramp(share: number, scheme = "light"): string {
  const colours = scheme === "dark" ? RAMP_DARK : RAMP;
  const place = Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * (colours.length - 1);
  const low = Math.min(Math.floor(place), colours.length - 2);
  const [a, b] = [colours[low], colours[low + 1]] as [[number, number, number], [number, number, number]];
  const t = place - low;
  return `rgb(${a.map((channel, i) => Math.round(channel + (b[i]! - channel) * t)).join(" ")})`;
}
