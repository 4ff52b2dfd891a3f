// The schema of job files with what the catalogue knows beyond it: fields of programs, and what names mean.
import type { Schema } from "./schema.ts";
import type { Catalogue, Named, ProgramField } from "./types.ts";

export type Names = Pick<Catalogue, "programs" | "topologies" | "orderings" | "mappings" | "mpi" | "targets" | "collectives">;

const LEFT: Named = { name: "default", description: "left to the MPI implementation, of search.mpi" };
const ALL: Named = { name: "all", description: "default and every algorithm that works, but for the tables of libraries" };

/** A copy of the schema; parts that it does not have are left alone. */
export function described(schema: Schema, names: Names): Schema {
  const whole = structuredClone(schema);
  const defs = whole.$defs ?? {};
  const search = defs["Search"]?.properties ?? {};
  for (const [field, known] of [["topology", names.topologies], ["ordering", names.orderings], ["mapping", names.mappings], ["mpi", names.mpi], ["target", names.targets]] as const) {
    explain(search[field], known);
  }
  // A library's own table may stand in the place of an algorithm.
  const tables = names.mpi.filter((one) => one.name !== LEFT.name);
  for (const { name, description, algorithms } of names.collectives) {
    const field = search["collectives"]?.properties?.[name];
    if (field) field.description ??= description;
    explain(field, [LEFT, ALL, ...algorithms, ...tables]);
  }
  choose(defs["TopologyChoice"]?.properties?.["family"], names.topologies);
  choose(defs["MappingChoice"]?.properties?.["mapper"], names.mappings);
  const builtin = defs["BuiltinApplication"];
  if (builtin?.properties) defs["BuiltinApplication"] = programs(builtin, names.programs);
  return whole;
}

/** Tells of each name that is allowed somewhere below a schema what it stands for. */
function explain(schema: Schema | undefined, known: readonly Named[]): void {
  if (!schema) return;
  if (schema.enum) schema.meanings = meanings(known);
  for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) explain(one, known);
  if (typeof schema.items === "object") explain(schema.items, known);
}

function choose(schema: Schema | undefined, known: readonly Named[]): void {
  if (!schema) return;
  schema.enum ??= known.map((one) => one.name);
  schema.meanings = meanings(known);
}

function meanings(known: readonly Named[]): Record<string, string> {
  return Object.fromEntries(known.map((one) => [one.name, one.description]));
}

/** A built-in program is told by its name, and has its own parameters beside those of all. */
function programs(general: Schema, known: Catalogue["programs"]): Schema {
  const { properties = {}, ...rest } = general;
  const { enum: _, ...builtin } = properties["builtin"] ?? {};
  const alternatives = known.map(({ name, description, fields }): Schema => ({
    ...rest,
    properties: {
      ...properties,
      builtin: { ...builtin, const: name, meanings: { [name]: description } },
      ...Object.fromEntries(fields.map((field) => [field.name, parameter(field, description)])),
    },
    required: [...(rest.required ?? []), ...fields.filter((field) => field.required).map((field) => field.name)],
  }));
  const any = { ...rest, properties: { ...properties, builtin: { ...properties["builtin"], meanings: meanings(known) } } };
  return { oneOf: [...alternatives, any] };
}

function parameter(field: ProgramField, program: string): Schema {
  return {
    description: `Parameter of the program: ${program}.`,
    ...(field.default === null ? {} : { default: field.default }),
    ...(field.choices ? { enum: field.choices } : {}),
  };
}
