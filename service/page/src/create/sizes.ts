// How large files may be, before they are sent.
import { Problem } from "../lib/api.ts";
import { bytes } from "../lib/format.ts";
import type { Catalogue } from "../lib/types.ts";

const HEAD = 4096; // XML begins within so many bytes, whatever blank space goes before

export function within(file: File, limit: number): void {
  if (file.size > limit) throw new Problem(413, `${file.name} has ${bytes(file.size)}; the service takes at most ${bytes(limit)}.`);
}

/** The files of one machine: each of XML, each alone, and all together. */
export async function withinTogether(files: readonly File[], limits: Catalogue["limits"]): Promise<void> {
  for (const one of files) within(one, (await isXml(one)) ? Math.min(limits.xml, limits.machine) : limits.machine);
  const sum = files.reduce((size, one) => size + one.size, 0);
  if (sum > limits.machine) {
    throw new Problem(413, `${files.map((one) => one.name).join(" and ")} have ${bytes(sum)} together; the service takes at most ${bytes(limits.machine)}.`);
  }
}

async function isXml(file: File): Promise<boolean> {
  return /^\uFEFF?\s*</.test(await file.slice(0, HEAD).text());
}
