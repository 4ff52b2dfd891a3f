// What the job schema of the service says of a field, by the field's place in a job file.
import type { Json } from "../lib/types.ts";
import { isDocument, type Document } from "./document.ts";

/** The first sentence of a field's description, and an example of a value where it has none; empty where the schema says nothing. */
export function explained(schema: Document | null, path: string, withExample = true): string {
  const field = schema && found(schema, schema, path.split("."));
  if (!field) return "";
  const said = field["description"];
  const text = typeof said === "string" ? said.replace(/\s+/g, " ") : "";
  const sentence = /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
  const examples = field["examples"];
  const example = withExample && Array.isArray(examples) && typeof examples[0] === "string" && !sentence.includes("such as") ? ` Example: \`${examples[0]}\`.` : "";
  return sentence + example;
}

/** What a field is where a job file does not say, as it is typed; empty where the schema gives no such number or word. */
export function preset(schema: Document | null, path: string): string {
  const value = schema && found(schema, schema, path.split("."))?.["default"];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** The schema of a field, through references, alternatives and lists. */
function found(schema: Document, node: Json | undefined, path: readonly string[]): Document | null {
  if (!isDocument(node)) return null;
  const [name, ...below] = path;
  if (name === undefined) return described(schema, node);
  const properties = node["properties"];
  const inner = isDocument(properties) ? properties[name] : undefined;
  if (inner !== undefined) return found(schema, inner, below);
  for (const one of [referred(schema, node), ...choicesOf(node)]) {
    const there = found(schema, one, path);
    if (there) return there;
  }
  return null;
}

/** A field with the examples of what it may hold. */
function described(schema: Document, node: Document): Document {
  const examples = [node, referred(schema, node), ...choicesOf(node)].flatMap((one) => (isDocument(one) && Array.isArray(one["examples"]) ? one["examples"] : []));
  return examples.length ? { ...node, examples } : node;
}

function referred(schema: Document, node: Document): Json | undefined {
  const reference = node["$ref"];
  const definitions = schema["$defs"];
  return typeof reference === "string" && isDocument(definitions) ? definitions[reference.replace("#/$defs/", "")] : undefined;
}

function choicesOf(node: Document): Json[] {
  const alternatives = ["anyOf", "oneOf", "allOf"].flatMap((name) => (Array.isArray(node[name]) ? node[name] : []));
  return node["items"] === undefined ? alternatives : [...alternatives, node["items"]];
}
