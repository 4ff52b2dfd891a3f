// What a JSON schema allows at a place of a document, and what it says of it.
import type { Entry, Mapping, Part, Path } from "./outline.ts";
import { partAt, valueOf } from "./outline.ts";
import type { Json } from "./types.ts";

/** The keywords of JSON Schema (2020-12) that are looked at, and `meanings`, which is ours: what names of `enum` stand for. */
export interface Schema {
  $ref?: string; $defs?: Record<string, Schema>;
  anyOf?: Schema[]; oneOf?: Schema[]; allOf?: Schema[];
  type?: string | string[]; enum?: Json[]; const?: Json;
  properties?: Record<string, Schema>; required?: string[]; additionalProperties?: boolean | Schema;
  items?: boolean | Schema; prefixItems?: Schema[]; uniqueItems?: boolean;
  description?: string; default?: Json; examples?: Json[];
  meanings?: Record<string, string>;
}

/** A reference may lead to others, but none that is sound to more than these. */
const MOST_REFERENCES = 20;

/** A schema without references and alternatives at its top: all that it may turn out to be. */
export function variants(root: Schema, schema: Schema, left = MOST_REFERENCES): Schema[] {
  if (left === 0) return [];
  const { $ref, anyOf, oneOf, allOf, ...own } = schema;
  let found: Schema[] = [own];
  const groups = [$ref ? [target(root, $ref)] : [], anyOf ?? [], oneOf ?? [], ...(allOf ?? []).map((one) => [one])];
  for (const group of groups.filter((one) => one.length)) {
    const alternatives = group.flatMap((one) => variants(root, one, left - 1));
    found = found.flatMap((one) => alternatives.map((other) => both(other, one)));
  }
  return found;
}

function target(root: Schema, reference: string): Schema {
  return (reference.startsWith("#/$defs/") && root.$defs?.[reference.slice("#/$defs/".length)]) || {};
}

/** What both say; of annotations those that stand nearer to the field, which is `near`. */
function both(far: Schema, near: Schema): Schema {
  const merged: Schema = { ...far, ...near };
  if (far.properties && near.properties) {
    merged.properties = { ...near.properties };
    for (const [name, one] of Object.entries(far.properties)) merged.properties[name] = { ...one, ...near.properties[name] };
  }
  if (far.required && near.required) merged.required = [...near.required, ...far.required];
  return merged;
}

function types(schema: Schema): string[] {
  if (schema.type !== undefined) return [schema.type].flat();
  if (schema.properties || schema.required) return ["object"];
  if (schema.items || schema.prefixItems) return ["array"];
  return [];
}

/** Whether a schema is one of mappings, or of lists. */
export function allows(schema: Schema, type: "object" | "array"): boolean {
  return types(schema).includes(type);
}

/** The alternatives that a part may be meant as: of mappings those that know most of its keys. */
export function meant(root: Schema, schemas: Schema[], part: Part | null): Schema[] {
  const all = schemas.flatMap((one) => variants(root, one));
  if (part?.kind === "list") return all.filter((one) => allows(one, "array"));
  if (part?.kind !== "mapping") return all;
  const objects = all.filter((one) => allows(one, "object"));
  const scores = objects.map((one) => part.entries.reduce((sum, entry) => sum + fit(root, one, entry), 0));
  const best = Math.max(...scores);
  return objects.filter((_, i) => scores[i] === best);
}

/** More for a key that is known than for one that may be anything, and most where its value alone tells the alternative. */
function fit(root: Schema, schema: Schema, { key, value }: Entry): number {
  const property = own(schema.properties, key);
  if (!property) return schema.additionalProperties ? 1 : 0;
  if (value?.kind !== "scalar") return 2;
  const allowed = variants(root, property);
  const said = valueOf(value);
  if (allowed.some((one) => one.const !== undefined && one.const === said)) return 3;
  return allowed.every((one) => one.const !== undefined) ? 0 : 2;
}

/** A property by its name, which people choose: not what every object inherits. */
function own<T>(record: Record<string, T> | undefined, name: string): T | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** What may stand at a path of a document: the schemas, their references and alternatives not looked into. */
export function schemasAt(root: Schema, document: Part | null, path: Path): Schema[] {
  let schemas: Schema[] = [root];
  path.forEach((step, i) => {
    const here = meant(root, schemas, partAt(document, path.slice(0, i)));
    schemas = here.flatMap((one) => below(one, step));
  });
  return schemas;
}

function below(schema: Schema, step: string | number): Schema[] {
  const found = typeof step === "string"
    ? own(schema.properties, step) ?? schema.additionalProperties
    : schema.prefixItems?.[step] ?? schema.items;
  return typeof found === "object" ? [found] : [];
}

export interface Key { name: string; schema: Schema; required: boolean }

/** The keys that a mapping at a path may have, those that it has left out. */
export function keysAt(root: Schema, document: Part | null, path: Path, except: readonly string[]): Key[] {
  const part: Mapping = { kind: "mapping", from: 0, to: 0, entries: [], brackets: false };
  const there = partAt(document, path);
  if (there?.kind === "mapping") part.entries = there.entries.filter((entry) => except.includes(entry.key));
  const alternatives = meant(root, schemasAt(root, document, path), part);
  const found = new Map<string, Key>();
  for (const schema of alternatives) {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (except.includes(name)) continue;
      const required = alternatives.every((one) => one.required?.includes(name));
      const before = found.get(name);
      found.set(name, before ? { ...before, schema: { ...property, ...before.schema } } : { name, schema: property, required });
    }
  }
  return [...found.values()];
}

export interface Value { value: Json; says: string }

/** The values that a schema names: those that it allows, the default, and examples. */
export function valuesOf(root: Schema, schemas: Schema[]): Value[] {
  const all = schemas.flatMap((one) => variants(root, one));
  const found: Value[] = [];
  const add = (value: Json, says: string) => {
    const before = found.find((one) => JSON.stringify(one.value) === JSON.stringify(value));
    if (!before) found.push({ value, says });
    else if (!before.says.includes(says)) before.says = [before.says, says].filter((text) => text).join("; ");
  };
  for (const one of all) {
    const means = (value: Json) => own(one.meanings, String(value)) ?? "";
    for (const value of one.enum ?? (one.const === undefined ? [] : [one.const])) add(value, means(value));
    if (types(one).includes("boolean")) [true, false].forEach((value) => add(value, ""));
  }
  for (const one of all) if (one.default !== undefined && !isGroup(one.default)) add(one.default, "default");
  for (const one of all) for (const value of one.examples ?? []) add(value, "example");
  if (all.some((one) => types(one).includes("null"))) add(null, "");
  return found;
}

function isGroup(value: Json): boolean {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

export interface About { name: string; text: string; default?: Json; example?: Json }

/** What a schema says of the field at the end of a path; null where it knows none. */
export function aboutAt(root: Schema, document: Part | null, path: Path): About | null {
  const name = path.findLast((step) => typeof step === "string");
  const schemas = schemasAt(root, document, path);
  if (name === undefined || !schemas.length) return null;
  return about(root, name, schemas);
}

export function about(root: Schema, name: string, schemas: Schema[]): About {
  const all = [...schemas, ...schemas.flatMap((one) => variants(root, one))];
  const said: About = { name, text: all.find((one) => one.description)?.description ?? "" };
  const settled = all.find((one) => one.default !== undefined)?.default;
  const example = all.find((one) => one.examples?.length)?.examples?.[0];
  if (settled !== undefined) said.default = settled;
  if (example !== undefined) said.example = example;
  return said;
}
