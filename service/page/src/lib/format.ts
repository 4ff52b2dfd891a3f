// Numbers in words: durations, sizes, gains, times of day.

const UNITS: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

/** A simulated time: three to four digits and a unit that fits. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds === 0) return "0 s";
  const size = Math.abs(rounded(seconds)); // 0.99996 s is 1 s, not 1000 ms
  if (size >= 1000) return `${Math.round(seconds).toLocaleString("en")} s`;
  const [unit, name] = UNITS.find(([scale]) => size >= scale) ?? [1e-9, "ns"];
  return `${rounded(seconds / unit)} ${name}`;
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/** A stretch of the clock, for people: 3 s, 4 min 10 s, 2 h 5 min. */
export function clock(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(count: number | null | undefined): string {
  if (count === null || count === undefined) return "–";
  let power = 0;
  let left = count;
  while (left >= 1024 && power < SIZES.length - 1) { left /= 1024; power += 1; }
  return `${power && left < 100 ? left.toFixed(1) : Math.round(left)} ${SIZES[power]}`;
}

export function count(number: number): string {
  return number < 1e15 ? number.toLocaleString("en") : number.toExponential(2);
}

/** Cost, watts or joules: whole from 1,000 on, of four digits below. */
export function price(value: number): string {
  return value >= 1000 ? count(Math.round(value)) : String(rounded(value));
}

/** How much faster: a baseline's time over the best's, as a percentage gained. */
export function gain(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return "–";
  const percent = (ratio - 1) * 100;
  const digits = Math.abs(percent) < 10 ? 1 : 0;
  return `${percent >= 0 ? "+" : "−"}${Math.abs(percent).toFixed(digits)} %`;
}

/** A probability: of models that are guesses, so the ends are open. */
export function chance(probability: number): string {
  if (probability < 0.01) return "below 1 %";
  return probability > 0.99 ? "over 99 %" : `${Math.round(probability * 100)} %`;
}

/** How many times faster. */
export function speedup(ratio: number | null | undefined): string {
  return ratio === null || ratio === undefined || !Number.isFinite(ratio) ? "–" : `${ratio.toFixed(2)}×`;
}

export function moment(epoch: number | null | undefined): string {
  if (!epoch) return "–";
  const then = new Date(epoch * 1000);
  const pad = (n: number) => String(n).padStart(2, "0");
  return `${then.getFullYear()}-${pad(then.getMonth() + 1)}-${pad(then.getDate())} ${pad(then.getHours())}:${pad(then.getMinutes())}`;
}

/** A moment to the millisecond, of which an evaluation may be a few. */
export function instant(epoch: number): string {
  const then = new Date(epoch * 1000);
  return `${moment(epoch)}:${String(then.getSeconds()).padStart(2, "0")}.${String(then.getMilliseconds()).padStart(3, "0")}`;
}

/** The time of the day, with the day where it is not today. */
export function hour(epoch: number): string {
  const text = moment(epoch);
  return text.slice(0, 10) === moment(Date.now() / 1000).slice(0, 10) ? text.slice(11) : text;
}

export function plural(number: number, word: string): string {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

/** What the service says in the middle of a line, as the beginning of one; names such as `torus-3d` stay as they are. */
export function sentence(text: string): string {
  return /^[a-z]+[-_\d]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** What an evaluation took of a processor, of the clock and of memory, each with its name. */
export function cost(one: { cpu_seconds: number | null; wall_seconds: number | null; peak_rss_bytes: number | null }): string {
  return [
    ...(one.cpu_seconds === null ? [] : [`${clock(one.cpu_seconds)} of CPU`]),
    ...(one.wall_seconds === null ? [] : [`${clock(one.wall_seconds)} of wall clock`]),
    ...(one.peak_rss_bytes === null ? [] : [`${bytes(one.peak_rss_bytes)} of memory`]),
  ].join(", ") || "–";
}

/** Names of parameters without their group, which is plain from the others. */
export function short(name: string): string {
  return name.replace(/^collectives\./, "").replace(/^mapping-options\./, "");
}
