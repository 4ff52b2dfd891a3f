// Job files as plain values: numbers out of fields, and what two of them say together.
import type { Json } from "../lib/types.ts";

export type Document = { [name: string]: Json };

/** Numbers where there are numbers; what is not one goes to the service, which says what is wrong. */
export function numeric(text: string): Json {
  const trimmed = text.trim();
  return /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** What was typed under a name; nothing where nothing was. */
export function given(name: string, text: string | undefined): Document {
  return text?.trim() ? { [name]: numeric(text) } : {};
}

/** A scalar as text for its field; anything else stays where it is. */
export function taken(from: Document, name: string): string | null {
  const value = from[name];
  if (typeof value !== "string" && typeof value !== "number") return null;
  delete from[name];
  return String(value);
}

export function isDocument(value: Json | undefined): value is Document {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** What the form says over what else a job file said. */
export function merged(rest: Document, own: Document): Document {
  const both: Document = { ...rest };
  for (const [name, value] of Object.entries(own)) {
    const below = both[name];
    both[name] = isDocument(below) && isDocument(value) ? merged(below, value) : value;
  }
  return both;
}

export function emptied(document: Document): Document {
  return Object.fromEntries(Object.entries(document).flatMap(([name, value]): [string, Json][] => {
    if (!isDocument(value)) return [[name, value]];
    const left = emptied(value);
    return Object.keys(left).length ? [[name, left]] : [];
  }));
}

/** The dotted names of what stays as it is. */
export function namesOf(document: Document, prefix = ""): string[] {
  return Object.entries(document).flatMap(([name, value]) => (isDocument(value) ? namesOf(value, `${prefix}${name}.`) : [`${prefix}${name}`]));
}

/** What one document says and another does not say at all. */
export function missing(whole: Document, part: Document): Document {
  return Object.fromEntries(Object.entries(whole).flatMap(([name, value]): [string, Json][] => {
    const there = part[name];
    if (there === undefined) return [[name, value]];
    return isDocument(value) && isDocument(there) ? [[name, missing(value, there)]] : [];
  }).filter(([, value]) => !isDocument(value) || Object.keys(value).length > 0));
}
