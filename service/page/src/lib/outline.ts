// What a YAML text says and where, by its syntax tree: also of a text that is only half written.
import type { SyntaxNode, Tree } from "@lezer/common";
import type { Json } from "./types.ts";

/** A place in a document: names of keys, and numbers of items from 0. */
export type Path = (string | number)[];

/** From where to where in the text, in characters. */
export interface Span { from: number; to: number }
export interface Scalar extends Span { kind: "scalar"; text: string }
export interface Entry { key: string; at: Span; value: Part | null }
/** `brackets`: it is written as `{...}`. */
export interface Mapping extends Span { kind: "mapping"; entries: Entry[]; brackets: boolean }
export interface List extends Span { kind: "list"; items: (Part | null)[] }
export type Part = Scalar | Mapping | List;

/** Deeper ones no job file has; whoever nests more gets no help there. */
const DEEPEST = 100;
const MAPPINGS = new Set(["BlockMapping", "FlowMapping"]);
const LISTS = new Set(["BlockSequence", "FlowSequence"]);
const SCALARS = new Set(["Literal", "QuotedLiteral", "BlockLiteral"]);
const AROUND = new Set(["Tagged", "Anchored"]);

/** The first document of a text; null where there is none. */
export function outline(tree: Tree, text: string): Part | null {
  const document = tree.topNode.getChild("Document");
  return document && within(document, text, 0);
}

/** The part that a node holds, beside marks and comments. */
function within(node: SyntaxNode, text: string, depth: number): Part | null {
  for (let child = node.firstChild; child; child = child.nextSibling) {
    const found = part(child, text, depth);
    if (found) return found;
  }
  return null;
}

function part(node: SyntaxNode, text: string, depth: number): Part | null {
  const { name, from, to } = node;
  if (depth > DEEPEST) return null;
  if (SCALARS.has(name)) return { kind: "scalar", from, to, text: plain(text.slice(from, to), name) };
  if (AROUND.has(name)) return within(node, text, depth + 1);
  if (MAPPINGS.has(name)) return { kind: "mapping", from, to, brackets: name === "FlowMapping", entries: node.getChildren("Pair").flatMap((pair) => entry(pair, text, depth)) };
  if (LISTS.has(name)) return { kind: "list", from, to, items: items(node, text, depth) };
  return null;
}

function entry(pair: SyntaxNode, text: string, depth: number): Entry[] {
  const key = pair.getChild("Key");
  const said = key && within(key, text, depth + 1);
  if (!key || said?.kind !== "scalar") return [];
  let value: Part | null = null;
  for (let node = key.nextSibling; node && !value; node = node.nextSibling) value = part(node, text, depth + 1);
  return [{ key: said.text, at: { from: said.from, to: said.to }, value }];
}

/** An item that is not written yet has no node, but its dash or comma counts. */
function items(node: SyntaxNode, text: string, depth: number): (Part | null)[] {
  const found: (Part | null)[] = [];
  let open = false;
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.name === "Item") {
      found.push(within(child, text, depth + 1));
      open = false;
    } else if (child.name === "-") {
      if (open) found.push(null);
      open = true;
    }
  }
  return open ? [...found, null] : found;
}

function plain(text: string, name: string): string {
  if (name !== "QuotedLiteral") return text;
  if (text.startsWith("'")) return text.slice(1).replace(/'$/, "").replaceAll("''", "'");
  try {
    return String(JSON.parse(text));
  } catch {
    return text.replace(/^"|"$/g, "");
  }
}

/** Where a field stands that is named by dotted path, such as `machine.degree` or `search.mpi.0`. */
export interface Found {
  /** The key on the way that is nearest to it; null for the document itself and its items. */
  entry: Entry | null;
  part: Part | null;
  /** Whether it is the field itself, and not what it would be in. */
  exact: boolean;
}

/** The field, or its nearest parent that is there. A key may have dots of its own. */
export function locate(root: Part | null, field: string): Found {
  let found: Found = { entry: null, part: root, exact: false };
  let rest = field.split(".");
  while (rest.length) {
    const { part: at } = found;
    if (at?.kind === "list") {
      const item = /^\d+$/.test(rest[0] ?? "") ? at.items[Number(rest[0])] : undefined;
      if (item === undefined || item === null) return found;
      found = { entry: null, part: item, exact: false };
      rest = rest.slice(1);
      continue;
    }
    if (at?.kind !== "mapping") return found;
    const step = named(at, rest);
    if (!step) return found;
    found = { entry: step.entry, part: step.entry.value, exact: false };
    rest = rest.slice(step.length);
  }
  return { ...found, exact: true };
}

function named(mapping: Mapping, parts: string[]): { entry: Entry; length: number } | null {
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join(".");
    const entry = mapping.entries.find((one) => one.key === name);
    if (entry) return { entry, length };
  }
  return null;
}

/** The path to the innermost key or scalar that covers a position, by what `wanted` says of them. */
export function pathTo(root: Part | null, wanted: (one: { entry?: Entry; scalar?: Scalar }) => boolean): Path | null {
  if (!root) return null;
  if (root.kind === "scalar") return wanted({ scalar: root }) ? [] : null;
  const steps: [string | number, Part | null, Entry | null][] = root.kind === "list"
    ? root.items.map((item, i) => [i, item, null])
    : root.entries.map((entry) => [entry.key, entry.value, entry]);
  for (const [step, value, entry] of steps) {
    if (entry && wanted({ entry })) return [step];
    const below = pathTo(value, wanted);
    if (below) return [step, ...below];
  }
  return null;
}

/** The part at a path. */
export function partAt(root: Part | null, path: Path): Part | null {
  let at = root;
  for (const step of path) {
    if (at?.kind === "list" && typeof step === "number") at = at.items[step] ?? null;
    else if (at?.kind === "mapping") at = at.entries.find((entry) => entry.key === step)?.value ?? null;
    else return null;
  }
  return at;
}

/** A scalar as the value that YAML takes it for, as far as schemas tell them apart. */
export function valueOf(scalar: Scalar): Json {
  const { text } = scalar;
  if (text.length !== scalar.to - scalar.from) return text; // it was quoted
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (/^(null|~|)$/i.test(text)) return null;
  return /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text;
}
