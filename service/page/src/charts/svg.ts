// A pen that writes down what it is told as SVG: paths stay paths, text stays text.
import type { Pen } from "./pen.ts";

type Matrix = readonly [number, number, number, number, number, number];

const UNMOVED: Matrix = [1, 0, 0, 1, 0, 0];
/** Where a line of text lies under a point, in parts of the font's size: SVG's own baselines are not drawn alike everywhere. */
const DOWN: Partial<Record<CanvasTextBaseline, number>> = { top: 0.8, hanging: 0.8, middle: 0.33, bottom: -0.2, ideographic: -0.2 };
const ANCHORS: Record<CanvasTextAlign, string> = { left: "start", start: "start", center: "middle", right: "end", end: "end" };

/** What a `Path2D` is told, as the `d` of a path. */
export class SvgPath {
  private readonly parts: string[] = [];
  private last: readonly [number, number] | null = null;

  constructor(begun?: SvgPath) {
    if (begun) {
      this.parts.push(...begun.parts);
      this.last = begun.last;
    }
  }

  get d(): string { return this.parts.join(""); }

  moveTo(x: number, y: number): void {
    this.parts.push(`M${at(x, y)}`);
    this.last = [x, y];
  }

  lineTo(x: number, y: number): void {
    if (this.last?.[0] === x && this.last[1] === y) return;
    this.parts.push(`${this.last ? "L" : "M"}${at(x, y)}`);
    this.last = [x, y];
  }

  bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number): void {
    if (!this.last) this.moveTo(ax, ay);
    this.parts.push(`C${at(ax, ay)} ${at(bx, by)} ${at(x, y)}`);
    this.last = [x, y];
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.parts.push(`M${at(x, y)}h${short(width)}v${short(height)}h${short(-width)}z`);
    this.last = [x, y];
  }

  arc(x: number, y: number, radius: number, from: number, to: number, back = false): void {
    const on = (angle: number): [number, number] => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    const whole = Math.abs(to - from) >= 2 * Math.PI;
    // SVG knows no arc that ends where it begins, so a circle is two halves.
    const turn = whole ? 2 * Math.PI : ((((back ? from - to : to - from) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI));
    const steps = turn > Math.PI ? 2 : 1;
    this.lineTo(...on(from));
    for (let step = 1; step <= steps; step += 1) {
      const [endX, endY] = on(from + ((back ? -turn : turn) * step) / steps);
      this.parts.push(`A${short(radius)} ${short(radius)} 0 0 ${back ? 0 : 1} ${at(endX, endY)}`);
      this.last = [endX, endY];
    }
  }

  closePath(): void {
    if (this.last) this.parts.push("z");
  }
}

interface State {
  fillStyle: Pen["fillStyle"];
  strokeStyle: Pen["strokeStyle"];
  lineWidth: number;
  lineCap: CanvasLineCap;
  lineJoin: CanvasLineJoin;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dash: number[];
  matrix: Matrix;
  clip: string | null;
}

const FRESH: State = {
  fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, lineCap: "butt", lineJoin: "miter", globalAlpha: 1,
  font: "10px sans-serif", textAlign: "start", textBaseline: "alphabetic", dash: [], matrix: UNMOVED, clip: null,
};

export class SvgDrawing implements Pen {
  private state: State = { ...FRESH };
  private readonly saved: State[] = [];
  private path = new SvgPath();
  /** What is drawn: clip, style and shape of each. */
  private readonly drawn: [string, string, string][] = [];
  private readonly clips = new Map<string, string>();

  private readonly measure: (text: string, font: string) => TextMetrics;

  /** `measure` says how wide a text is in a font, which only a browser knows. */
  constructor(measure: (text: string, font: string) => TextMetrics) { this.measure = measure; }

  get fillStyle(): Pen["fillStyle"] { return this.state.fillStyle; }
  set fillStyle(value: Pen["fillStyle"]) { this.state.fillStyle = value; }
  get strokeStyle(): Pen["strokeStyle"] { return this.state.strokeStyle; }
  set strokeStyle(value: Pen["strokeStyle"]) { this.state.strokeStyle = value; }
  get lineWidth(): number { return this.state.lineWidth; }
  set lineWidth(value: number) { if (value > 0) this.state.lineWidth = value; }
  get lineCap(): CanvasLineCap { return this.state.lineCap; }
  set lineCap(value: CanvasLineCap) { this.state.lineCap = value; }
  get lineJoin(): CanvasLineJoin { return this.state.lineJoin; }
  set lineJoin(value: CanvasLineJoin) { this.state.lineJoin = value; }
  get globalAlpha(): number { return this.state.globalAlpha; }
  set globalAlpha(value: number) { this.state.globalAlpha = value; }
  get font(): string { return this.state.font; }
  set font(value: string) { this.state.font = value; }
  get textAlign(): CanvasTextAlign { return this.state.textAlign; }
  set textAlign(value: CanvasTextAlign) { this.state.textAlign = value; }
  get textBaseline(): CanvasTextBaseline { return this.state.textBaseline; }
  set textBaseline(value: CanvasTextBaseline) { this.state.textBaseline = value; }

  save(): void { this.saved.push({ ...this.state }); }
  restore(): void { this.state = this.saved.pop() ?? this.state; }
  setLineDash(dash: Iterable<number>): void { this.state.dash = [...dash]; }

  translate(x: number, y: number): void { this.transform([1, 0, 0, 1, x, y]); }
  scale(x: number, y: number): void { this.transform([x, 0, 0, y, 0, 0]); }
  rotate(angle: number): void {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    this.transform([cos, sin, -sin, cos, 0, 0]);
  }

  beginPath(): void { this.path = new SvgPath(); }
  moveTo(x: number, y: number): void { this.path.moveTo(x, y); }
  lineTo(x: number, y: number): void { this.path.lineTo(x, y); }
  bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number): void { this.path.bezierCurveTo(ax, ay, bx, by, x, y); }
  rect(x: number, y: number, width: number, height: number): void { this.path.rect(x, y, width, height); }
  arc(x: number, y: number, radius: number, from: number, to: number, back = false): void { this.path.arc(x, y, radius, from, to, back); }
  closePath(): void { this.path.closePath(); }

  /** Nothing lies below what is drawn, so there is nothing to wipe away. */
  clearRect(): void {}

  fill(path?: unknown): void { this.add(this.filling(), shape(path instanceof SvgPath ? path : this.path)); }
  stroke(path?: unknown): void { this.add(this.stroking(), shape(path instanceof SvgPath ? path : this.path)); }
  fillRect(x: number, y: number, width: number, height: number): void { this.add(this.filling(), box(x, y, width, height)); }
  strokeRect(x: number, y: number, width: number, height: number): void { this.add(this.stroking(), box(x, y, width, height)); }

  clip(path?: unknown): void {
    const { d } = path instanceof SvgPath ? path : this.path;
    const within = this.state.clip === null ? "" : ` clip-path="url(#${this.state.clip})"`;
    const content = `${within}><path d="${d}"${moved(this.state.matrix)}/></clipPath>`;
    const id = this.clips.get(content) ?? `clip${this.clips.size + 1}`;
    this.clips.set(content, id);
    this.state.clip = id;
  }

  measureText(text: string): TextMetrics { return this.measure(text, this.state.font); }

  fillText(text: string, x: number, y: number): void {
    const [, style = "", size = "10", family = "sans-serif"] = /^(.*?)([\d.]+)px\s+(.+)$/.exec(this.state.font) ?? [];
    const weight = /\b(bold|[1-9]00)\b/.exec(style)?.[1];
    const down = (DOWN[this.state.textBaseline] ?? 0) * Number(size);
    const { matrix } = this.state;
    const about = `font-family="${escaped(family)}" font-size="${short(Number(size))}"${weight ? ` font-weight="${weight}"` : ""} text-anchor="${ANCHORS[this.state.textAlign]}"`;
    this.add(this.filling(UNMOVED), `<text x="${short(x)}" y="${short(y + down)}" ${about}${moved(matrix)}>${escaped(text)}</text>`);
  }

  /** The document, whose title is what readers of screens are told. */
  document(width: number, height: number, title: string): string {
    const clips = [...this.clips].map(([content, id]) => `<clipPath id="${id}"${content}`).join("");
    return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" `
      + `viewBox="0 0 ${short(width)} ${short(height)}" xml:space="preserve" role="img"><title>${escaped(title)}</title>${clips && `<defs>${clips}</defs>`}\n${this.groups()}</svg>\n`;
  }

  /** What follows one another in one style is told its style once; a clip lies outside of what is moved. */
  private groups(): string {
    let text = "";
    let [within, like]: [string | null, string | null] = [null, null];
    for (const [clip, style, content] of this.drawn) {
      if (like !== null && (style !== like || clip !== within)) text += "</g>";
      if (clip !== within) text += `${within ? "</g>" : ""}${clip ? `<g clip-path="url(#${clip})">` : ""}`;
      if (style !== like || clip !== within) text += `\n<g${style}>`;
      [within, like] = [clip, style];
      text += content;
    }
    return text + (like === null ? "" : "</g>") + (within ? "</g>" : "") + (text && "\n");
  }

  private add(style: string | null, content: string): void {
    if (style !== null && content) this.drawn.push([this.state.clip ?? "", style, content]);
  }

  private filling(matrix = this.state.matrix): string | null {
    const paint = painted("fill", this.state.fillStyle, this.state.globalAlpha);
    return paint && paint + moved(matrix);
  }

  private stroking(): string | null {
    const { lineWidth, lineCap, lineJoin, dash } = this.state;
    const paint = painted("stroke", this.state.strokeStyle, this.state.globalAlpha);
    return paint && ` fill="none"${paint} stroke-width="${short(lineWidth)}"${lineCap === "butt" ? "" : ` stroke-linecap="${lineCap}"`}`
      + `${lineJoin === "miter" ? "" : ` stroke-linejoin="${lineJoin}"`}${dash.length ? ` stroke-dasharray="${dash.map(short).join(" ")}"` : ""}${moved(this.state.matrix)}`;
  }

  private transform(by: Matrix): void {
    const [a, b, c, d, e, f] = this.state.matrix;
    const [p, q, r, s, t, u] = by;
    this.state.matrix = [a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * t + c * u + e, b * t + d * u + f];
  }
}

/** A hundredth of a pixel is finer than anything that is printed. */
function short(number: number): string {
  return String(Math.round(number * 100) / 100 || 0);
}

function at(x: number, y: number): string {
  return `${short(x)} ${short(y)}`;
}

function shape({ d }: SvgPath): string {
  return d && `<path d="${d}"/>`;
}

function box(x: number, y: number, width: number, height: number): string {
  const [left, top] = [Math.min(x, x + width), Math.min(y, y + height)];
  return `<rect x="${short(left)}" y="${short(top)}" width="${short(Math.abs(width))}" height="${short(Math.abs(height))}"/>`;
}

function moved(matrix: Matrix): string {
  if (matrix.every((one, i) => one === UNMOVED[i])) return "";
  return ` transform="matrix(${matrix.map((one) => String(Math.round(one * 1e5) / 1e5 || 0)).join(" ")})"`;
}

/** A colour in the oldest notation, which every program reads; null where nothing would be seen. */
function painted(what: "fill" | "stroke", style: Pen["fillStyle"], alpha: number): string | null {
  const [colour, own] = plain(typeof style === "string" ? style.trim() : "none");
  const opacity = alpha * own;
  if (colour === "none" || opacity <= 0) return null;
  return ` ${what}="${escaped(colour)}"${opacity < 1 ? ` ${what}-opacity="${short(opacity)}"` : ""}`;
}

function plain(colour: string): [string, number] {
  if (colour === "transparent" || colour === "") return ["none", 0];
  const rgb = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)(?:[\s,/]+([\d.]+)(%?))?\s*\)$/.exec(colour);
  if (rgb) {
    const [, r, g, b, a, percent] = rgb;
    return [`#${[r, g, b].map((one) => Math.round(Number(one)).toString(16).padStart(2, "0")).join("")}`, a ? Number(a) / (percent ? 100 : 1) : 1];
  }
  const hex = /^#([\da-f]{4}|[\da-f]{8})$/i.exec(colour)?.[1];
  if (!hex) return [colour, 1];
  const long = hex.length === 4 ? [...hex].map((one) => one + one).join("") : hex;
  return [`#${long.slice(0, 6)}`, parseInt(long.slice(6), 16) / 255];
}

/** Names of jobs and values are a user's: nothing of them may be read as markup, or be no XML at all. */
function escaped(text: string): string {
  return text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
