// Where an axis has its marks.

const FEW = 5;
const DIGITS = [1, 2, 5];

/** Marks of a logarithmic axis: 1, 2 and 5 of each power of ten, or even steps where these are too far apart. */
export function logSplits(min: number, max: number): number[] {
  if (!(min > 0) || !(max > min)) return [];
  const powers = Array.from({ length: Math.ceil(Math.log10(max)) - Math.floor(Math.log10(min)) + 1 }, (_, i) => Math.floor(Math.log10(min)) + i);
  const splits = powers.flatMap((power) => DIGITS.map((digit) => rounded(digit, power))).filter((one) => one >= min && one <= max);
  return splits.length >= FEW ? splits : evenly(min, max);
}

function evenly(min: number, max: number): number[] {
  const power = Math.floor(Math.log10((max - min) / FEW));
  const step = [...DIGITS, 10].map((digit) => rounded(digit, power)).find((one) => (max - min) / one <= 2 * FEW) ?? max - min;
  const first = Math.ceil(min / step);
  return Array.from({ length: Math.floor(max / step) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** By its digits: products of powers of ten are a little off. */
function rounded(digit: number, power: number): number {
  return Number(`${digit}e${power}`);
}
