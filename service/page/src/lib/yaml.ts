// Writes plain values as YAML that people like to read; whatever could be misread is quoted.
import type { Json } from "./types.ts";

const PLAIN = /^[A-Za-z_][\w./+-]*( [\w./+-]+)*$/;
const SPECIAL = /^(y|n|yes|no|on|off|true|false|null|nan|inf)$/i;

export function yaml(value: Json | { [name: string]: Json | undefined }, indent = ""): string {
  if (Array.isArray(value)) {
    return value.map((item) => {
      if (item !== null && typeof item === "object" && !Array.isArray(item) && Object.keys(item).length) {
        return `${indent}- ${yaml(item, `${indent}  `).trimStart()}`;
      }
      return `${indent}- ${inline(item)}\n`;
    }).join("");
  }
  if (value !== null && typeof value === "object") {
    return Object.entries(value).filter(([, inner]) => inner !== undefined).map(([name, inner]) => {
      const key = scalar(name);
      const list = Array.isArray(inner);
      if (inner !== null && typeof inner === "object" && !list && Object.keys(inner).length) {
        return `${indent}${key}:\n${yaml(inner as { [name: string]: Json }, `${indent}  `)}`;
      }
      if (list && inner.some((item) => item !== null && typeof item === "object" && !Array.isArray(item))) {
        return `${indent}${key}:\n${yaml(inner, `${indent}  `)}`;
      }
      return `${indent}${key}: ${inline(inner as Json)}\n`;
    }).join("");
  }
  return `${indent}${scalar(value as Json)}\n`;
}

/** A value in one line. */
export function inline(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (value !== null && typeof value === "object") return `{${Object.entries(value).map(([name, inner]) => `${scalar(name)}: ${inline(inner)}`).join(", ")}}`;
  return scalar(value);
}

function scalar(value: Json): string {
  if (typeof value !== "string") return number(value);
  return PLAIN.test(value) && !SPECIAL.test(value) ? value : JSON.stringify(value);
}

/** YAML 1.1 takes an exponent for a number only beside a point and with a sign. */
function number(value: Json): string {
  const text = JSON.stringify(value);
  if (typeof value !== "number" || !text.includes("e")) return text;
  const [mantissa = "", exponent = ""] = text.split("e");
  return `${mantissa.includes(".") ? mantissa : `${mantissa}.0`}e${/^[+-]/.test(exponent) ? exponent : `+${exponent}`}`;
}
