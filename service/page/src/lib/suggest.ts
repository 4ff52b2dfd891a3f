// What may be written at a place of a YAML text, by the schema of its documents.
import { parser } from "@lezer/yaml";
import { indentBelow, opened } from "./indent.ts";
import { outline, partAt, pathTo, type Part, type Path } from "./outline.ts";
import { about, keysAt, schemasAt, valuesOf, variants, allows, type About, type Schema } from "./schema.ts";
import type { Json } from "./types.ts";
import { inline } from "./yaml.ts";

export interface Suggestion {
  label: string;
  kind: "key" | "value";
  /** In a few words, beside the label. */
  detail: string;
  about: About;
  /** What is written where it is chosen. */
  insert: string;
  /** The value or the key itself, without quotes. */
  text: string;
  /** It goes into the key of the line above, which has no value yet. */
  below?: true;
}
export interface Suggestions { from: number; to: number; options: Suggestion[] }

/** Stands for what is not written yet; a character that is nobody's. */
const MARK = "\uE000";
const WORD = /[\w./+-]*/;

interface Place { role: "key" | "value"; path: Path; document: Part | null; present: string[] }

/** A value as it is suggested: quantities such as `40Gbps` need no quotes. */
export function written(value: Json): string {
  return inline(value).replaceAll(/"(\d+(?:\.\d+)?[A-Za-z]+)"/g, "$1");
}

/** What may stand at a position, in place of the word that it is in; null where nothing is known. */
export function suggest(schema: Schema, text: string, position: number): Suggestions | null {
  const here = there(schema, text, position);
  const under = underKey(schema, text, position);
  if (!under) return here;
  const names = new Set(under.options.map((one) => one.label));
  return { ...under, options: [...under.options, ...(here?.options ?? []).filter((one) => !names.has(one.label))] };
}

/** What may stand further in, where a word alone in its line is no further in than the key above it that has no value. */
function underKey(schema: Schema, text: string, position: number): Suggestions | null {
  const lines = text.slice(0, position).split("\n");
  const width = /^( *)[\w./+-]*$/.exec(lines.at(-1) ?? "")?.[1]?.length;
  const key = opened(lines.at(-2) ?? "");
  const [rest = "", ...after] = text.slice(position).split("\n");
  if (width === undefined || key === null || width > key || !/^[\w./+-]*\s*$/.test(rest)) return null;
  const next = after.find((line) => line.trim() && !/^\s*#/.test(line)) ?? "";
  const column = next.search(/\S/);
  if (column > key || (column === key && next.startsWith("-", column))) return null;
  const gap = " ".repeat(indentBelow(lines.at(-2) ?? "") - width);
  const start = position - (lines.at(-1)?.length ?? 0);
  const found = there(schema, text.slice(0, start) + gap + text.slice(start), position + gap.length);
  return found && {
    from: found.from - gap.length, to: found.to - gap.length,
    options: found.options.map((one) => ({ ...one, insert: gap + one.insert, below: true })),
  };
}

/** What may stand in a place as it is, or else as an item of a list that is to begin or to go on there. */
function there(schema: Schema, text: string, position: number): Suggestions | null {
  const here = standing(schema, text, position);
  return here?.options.some((one) => one.kind === "key" || one.text !== "null") ? here : newItem(schema, text, position) ?? here;
}

const DASH = "- ";

/** What a new item may be, with its dash, where a word stands alone in its line. */
function newItem(schema: Schema, text: string, position: number): Suggestions | null {
  const start = text.lastIndexOf("\n", position - 1) + 1;
  const [line = ""] = text.slice(start).split("\n");
  const indent = /^( *)[\w./+-]*\s*$/.exec(line)?.[1]?.length;
  if (indent === undefined || position < start + indent) return null;
  const at = start + indent;
  const found = standing(schema, text.slice(0, at) + DASH + text.slice(at), position + DASH.length);
  return found && {
    from: found.from - DASH.length, to: found.to - DASH.length,
    options: found.options.map((one) => ({ ...one, label: DASH + one.label, insert: DASH + one.insert })),
  };
}

function standing(schema: Schema, text: string, position: number): Suggestions | null {
  const start = text.lastIndexOf("\n", position - 1) + 1;
  const before = text.slice(start, position);
  const from = position - (/[\w./+-]*$/.exec(before)?.[0].length ?? 0);
  const to = position + (WORD.exec(text.slice(position))?.[0].length ?? 0);
  const followed = /^[ \t]*:(?=\s|$)/.test(text.slice(to));
  const place = placeOf(text, from, to, followed, /^\s*(?:- +)*$/.test(text.slice(start, from)));
  if (!place) return null;
  const fresh = place.role === "key" && place.present.length === 0;
  const options = place.role === "key" ? keys(schema, place, followed, indentOf(text, start, from)) : [];
  // What stands alone below a key or in an item may still become a value.
  if (place.role === "value" || (fresh && !followed)) options.push(...values(schema, place).filter((one) => one.text !== text.slice(from, to)));
  return options.length ? { from, to, options } : null;
}

/** Where the text would go on: what is behind it only counts where it leaves the place as it is. */
function placeOf(text: string, from: number, to: number, followed: boolean, alone: boolean): Place | null {
  const head = `${text.slice(0, from)}${MARK}`;
  const colon = alone || followed ? ":" : "";
  const near = seen(closed(`${head}${colon}`), from);
  const whole = seen(`${head}${followed ? "" : colon}${text.slice(to)}`, from);
  if (!near) return null;
  return whole && whole.role === near.role && whole.path.join("\n") === near.path.join("\n") ? whole : near;
}

/** A text that ends in brackets, with the ends of them. */
function closed(text: string): string {
  const ends: string[] = [];
  parser.parse(text).iterate({
    enter({ name }) {
      if (name === "[") ends.push("]");
      else if (name === "{") ends.push("}");
      else if (name === "]" || name === "}") ends.pop();
    },
  });
  return ends.length ? `${text} ${ends.reverse().join("")}` : text;
}

function seen(text: string, at: number): Place | null {
  const document = outline(parser.parse(text), text);
  const path = pathTo(document, ({ entry, scalar }) => (entry ? entry.at.from === at && entry.key === MARK : scalar?.from === at && scalar.text === MARK));
  if (!path) return null;
  const holder = path.slice(0, -1);
  const around = partAt(document, holder);
  const last = path.at(-1);
  if (last === MARK && around?.kind === "mapping") {
    return { role: "key", path: holder, document, present: around.entries.map((one) => one.key).filter((key) => key !== MARK) };
  }
  // Not a value yet: none that would tell what its mapping is meant as.
  if (around?.kind === "mapping") for (const entry of around.entries) if (entry.key === last) entry.value = null;
  const present = around?.kind === "list" ? around.items.flatMap((one) => (one?.kind === "scalar" && one.text !== MARK ? [one.text] : [])) : [];
  return { role: "value", path, document, present };
}

function indentOf(text: string, start: number, from: number): string {
  return " ".repeat(/^[ -]*/.exec(text.slice(start, from))?.[0].length ?? 0);
}

function keys(schema: Schema, place: Place, followed: boolean, indent: string): Suggestion[] {
  return keysAt(schema, place.document, place.path, place.present).map(({ name, schema: one, required }) => {
    const kinds = variants(schema, one);
    return {
      label: name, text: name, kind: "key", detail: required ? "required" : "", about: about(schema, name, [one]),
      insert: followed ? name : inBrackets(place) ? `${name}: ` : name + opening(schema, kinds, indent),
    };
  });
}

/** What follows a key: where it holds nothing but keys or items that have some, these are begun below it. */
function opening(schema: Schema, kinds: Schema[], indent: string): string {
  const all = (some: Schema[], type: "object" | "array") => some.length > 0 && some.every((kind) => allows(kind, type));
  if (all(kinds, "object")) return `:\n${indent}  `;
  const items = kinds.flatMap(({ items: one }) => (typeof one === "object" ? variants(schema, one) : []));
  return all(kinds, "array") && all(items, "object") ? `:\n${indent}  ${DASH}` : ": ";
}

/** Whether a mapping is written as `{...}`, where a line may not end after a key. */
function inBrackets({ document, path }: Place): boolean {
  const part = partAt(document, path);
  return part?.kind === "mapping" && part.brackets;
}

function values(schema: Schema, { role, path, document, present }: Place): Suggestion[] {
  const schemas = schemasAt(schema, document, path);
  const name = String(path.findLast((step) => typeof step === "string") ?? "");
  const said = about(schema, name, schemas);
  return valuesOf(schema, schemas).flatMap(({ value, says }): Suggestion[] => {
    const label = written(value);
    if (role === "value" && present.includes(String(value))) return [];
    return [{ label, kind: "value", detail: says, about: said, insert: label, text: typeof value === "string" ? value : label }];
  });
}
