// Where in a job file the service's problems with it are.
import type { FieldProblem } from "./api.ts";
import { locate, type Found, type Part, type Span } from "./outline.ts";

export interface Mark extends Span { message: string }
export type Placed = Pick<FieldProblem, "field" | "message">;

/** A place that a message names itself: `line 3, column 7`, both from 1, columns in characters of Unicode. */
const PLACE = /\bline (\d+), column (\d+)\b/;
/** A value that a message quotes because it is unknown: `unknown family 'randm'`. */
const UNKNOWN = /\bunknown (?:\w+ )*(?:'([^']*)'|"([^"]*)")/;

/** The places of what the service said of a text: fields, or a place in the message where it was no YAML. */
export function marks(text: string, root: Part | null, problem: { message: string; fields: FieldProblem[] }): Mark[] {
  if (problem.fields.length) {
    return problem.fields.map((one) => ({ ...spanOf(text, root, one), message: `${one.field}: ${one.message}` }));
  }
  const place = placeIn(text, problem.message);
  return place ? [{ ...place, message: problem.message }] : [];
}

/** Problems as their places follow each other in the text; those of one place stay as they are. */
export function inOrder<Told extends Placed>(text: string, root: Part | null, fields: readonly Told[]): Told[] {
  const starts = new Map(fields.map((one) => [one, spanOf(text, root, one).from]));
  return [...fields].sort((one, other) => (starts.get(one) ?? 0) - (starts.get(other) ?? 0));
}

/**
 * What is underlined for a field: the value in it that the message names, else all of it that is in
 * its first line, or the key of its nearest parent.
 */
export function spanOf(text: string, root: Part | null, { field, message }: Placed): Span {
  const found = locate(root, field);
  return (found.exact && named(found.part, message)) || (spanOfFound(text, found) ?? firstLine(text));
}

/** The value in a list or mapping that a message says is unknown; null where it is all of the part. */
function named(part: Part | null, message: string): Span | null {
  const said = UNKNOWN.exec(message);
  if (!said) return null;
  const name = said[1] ?? said[2] ?? "";
  const within = (one: Part | null): Span | null => {
    if (one?.kind === "scalar") return one.text === name ? { from: one.from, to: one.to } : null;
    const below = one?.kind === "list" ? one.items : one?.entries.map(({ value }) => value) ?? [];
    for (const inner of below) {
      const found = within(inner);
      if (found) return found;
    }
    return null;
  };
  return part?.kind === "scalar" ? null : within(part);
}

function spanOfFound(text: string, { entry, part, exact }: Found): Span | null {
  if (entry) {
    const { at, value } = entry;
    return exact && value && !text.slice(at.from, value.to).includes("\n") ? { from: at.from, to: value.to } : at;
  }
  if (!part) return null;
  const from = part.kind === "mapping" && !part.brackets ? part.entries[0]?.at.from ?? part.from : part.from; // not its comments
  const end = text.indexOf("\n", from);
  return { from, to: end < 0 ? part.to : Math.min(part.to, end) };
}

function firstLine(text: string): Span {
  const from = text.search(/\S/);
  if (from < 0) return { from: 0, to: 0 };
  const end = text.indexOf("\n", from);
  return { from, to: end < 0 ? text.length : end };
}

/** The place that a message names, up to the end of the word there; null where it names none. */
export function placeIn(text: string, message: string): Span | null {
  const said = PLACE.exec(message);
  if (!said) return null;
  const lines = text.split("\n");
  const number = Math.min(Number(said[1]), lines.length) - 1;
  const line = lines[number] ?? "";
  const start = lines.slice(0, number).reduce((sum, one) => sum + one.length + 1, 0);
  const column = [...line].slice(0, Number(said[2]) - 1).join("").length;
  // At the end of a line there is nothing to underline but what is before.
  const from = Math.max(0, Math.min(column, line.trimEnd().length - 1));
  const word = /^\S*/.exec(line.slice(from))?.[0].length ?? 0;
  return { from: start + from, to: start + Math.min(line.length, from + Math.max(1, word)) };
}
