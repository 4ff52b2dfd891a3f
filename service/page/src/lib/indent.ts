// How far a new line begins to the right: by the line above it alone, so that a mistake further up changes nothing.

/** Further in than the key that holds it. */
const STEP = 2;
/** A key of a mapping or an item, plain or quoted. */
const KEY = String.raw`(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^\s#"'\[\]{},|>&*!%@:-]|-[^\s#:])(?:[^#:]|:(?=[^\s#]))*)`;
const LEAD = /^ *(?:- +)*/;
/** A key whose value stands below it: nothing follows but the mark of a text of several lines, or a comment. */
const OPEN = new RegExp(String.raw`^ *(?:- +)*${KEY}:(?: +[|>][-+1-9]*)? *(?: #.*)?$`);
const ITEM = new RegExp(String.raw`^ *(?:- +)+${KEY}:(?: .*)?$`);

/** The column of a line's key where the value of it may only stand below it; null for every other line. */
export function opened(line: string): number | null {
  return OPEN.test(line) ? column(line) : null;
}

function column(line: string): number {
  return LEAD.exec(line)?.[0].length ?? 0;
}

/** How many blanks the line below one begins with, by what is written of it before the break. */
export function indentBelow(line: string): number {
  const key = opened(line);
  if (key !== null) return key + STEP;
  // Below the first key of an item its others follow; below another item the next one.
  if (ITEM.test(line)) return column(line);
  const own = /^ */.exec(line)?.[0].length ?? 0;
  return /^[^#]*[[{] *$/.test(line) ? own + STEP : own;
}
