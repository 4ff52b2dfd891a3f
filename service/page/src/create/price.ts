// What a job says of the price of its networks: what is weighed against time, the limits, the parts.
import type { Json } from "../lib/types.ts";
import { given, isDocument, taken, type Document } from "./document.ts";

/** What is weighed against time; empty where time alone counts. */
export type Weighed = "" | (typeof SECOND)[number];

const SECOND = ["cost", "power", "energy"] as const;

export const LIMITS = ["cost", "power", "switches", "cables", "diameter"] as const;
export const SWITCH = ["radix", "price", "watts"] as const;
/** What is told of parts other than switches, by where it stands in `machine.parts`. */
export const DETAILS = {
  cables: ["reach", "copper", "copper_metre", "optical", "optical_metre", "optical_watts"],
  adapters: ["price", "watts"],
  hosts: ["watts", "core_watts"],
  floor: ["rack_nodes", "width", "depth", "inside", "overhead"],
} as const;

export type SwitchFields = Record<(typeof SWITCH)[number], string>;

/** Parts of one's own: `details` by names such as `cables.reach`; what is empty is as by default. */
export interface PartsFields { switches: SwitchFields[]; details: Record<string, string> }

export interface PriceFields {
  weighed: Weighed;
  limits: Record<string, string>;
  /** Null: as the service has them by default. */
  parts: PartsFields | null;
}

/** Whether the price of networks matters, as it does not in most jobs. */
export function asksForPrices({ weighed, limits }: PriceFields): boolean {
  return weighed !== "" || Object.values(limits).some((limit) => limit.trim() !== "");
}

/** What stands in the job file itself. */
export function termsOf({ weighed, limits }: PriceFields): Document {
  const constraints = Object.assign({}, ...LIMITS.map((name) => given(name, limits[name]))) as Document;
  return {
    ...(weighed ? { objective: ["time", weighed] } : {}),
    ...(Object.keys(constraints).length ? { constraints } : {}),
  };
}

/** What stands in its machine. */
export function partsOf({ parts }: PriceFields): Document {
  if (!parts) return {};
  const switches = parts.switches.map((one) => Object.assign({}, ...SWITCH.map((name) => given(name, one[name]))) as Document);
  const groups = Object.entries(DETAILS).flatMap(([group, names]): [string, Json][] => {
    const told = Object.assign({}, ...names.map((name) => given(name, parts.details[`${group}.${name}`]))) as Document;
    return Object.keys(told).length ? [[group, told]] : [];
  });
  return { parts: { ...(switches.length ? { switches } : {}), ...Object.fromEntries(groups) } };
}

/** The terms of a job file for their fields; they are taken out of it. */
export function takeTerms(file: Document): Pick<PriceFields, "weighed" | "limits"> {
  const { objective, constraints } = file;
  const several: Json[] = Array.isArray(objective) ? objective : objective === "time" ? ["time"] : [];
  const second = several[1];
  const weighed = SECOND.find((one) => one === second) ?? "";
  const known = several[0] === "time" && several.length <= 2 && (second === undefined || weighed !== "");
  if (known) delete file["objective"];
  const limits: Record<string, string> = {};
  if (isDocument(constraints)) {
    for (const name of LIMITS) {
      const limit = taken(constraints, name);
      if (limit !== null) limits[name] = limit;
    }
  }
  return { weighed: known ? weighed : "", limits };
}

/** The same of the parts of a machine. */
export function takeParts(machine: Document): PartsFields | null {
  const { parts } = machine;
  if (!isDocument(parts)) return null;
  const fields: PartsFields = { switches: [], details: {} };
  const { switches } = parts;
  if (Array.isArray(switches) && switches.every(isSwitch)) {
    fields.switches = switches.map((one) => ({ radix: said(one["radix"]), price: said(one["price"]), watts: said(one["watts"]) }));
    delete parts["switches"];
  }
  for (const [group, names] of Object.entries(DETAILS)) {
    const told = parts[group];
    if (!isDocument(told)) continue;
    for (const name of names) {
      const value = taken(told, name);
      if (value !== null) fields.details[`${group}.${name}`] = value;
    }
  }
  return fields;
}

function isSwitch(value: Json): value is Document {
  return isDocument(value) && Object.entries(value).every(([name, one]) => SWITCH.some((known) => known === name) && (typeof one === "number" || typeof one === "string"));
}

function said(value: Json | undefined): string {
  return value === undefined ? "" : String(value);
}

/** Switches of the catalogue, to begin with. */
export function switchesOf(known: { radix: number; price: number; watts: number }[]): SwitchFields[] {
  return known.map((one) => ({ radix: String(one.radix), price: String(one.price), watts: String(one.watts) }));
}
