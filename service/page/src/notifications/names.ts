// What the jobs that messages are about are called, also those that are not among the newest.
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../lib/api.ts";
import { asProblem } from "../lib/hooks.ts";
import { jobPath } from "../lib/paths.ts";
import type { Job } from "../lib/types.ts";

/** By id; null where a job was deleted. */
export type Names = ReadonlyMap<string, string | null>;

/** What stands for a job: its name and whether there is a page of it. */
export function called(id: string, names: Names): { name: string; shown: boolean } {
  const name = names.get(id);
  return name === null ? { name: "deleted job", shown: false } : { name: name ?? id, shown: true };
}

/** The names that are known and, asked for one by one, those that are not; with null known nothing is asked for yet. */
export function useNames(ids: readonly string[], known: Names | null): Names {
  const [found, setFound] = useState<Names>(new Map());
  const asked = useRef(new Set<string>());
  const unknown = known ? [...new Set(ids)].filter((id) => !known.has(id)) : [];
  useEffect(() => {
    for (const id of unknown) {
      if (asked.current.has(id)) continue;
      asked.current.add(id);
      const note = (name: string | null) => setFound((old) => new Map([...old, [id, name]]));
      get<Job>(jobPath(id)).then(({ name }) => note(name), (error: unknown) => {
        if (asProblem(error).status === 404) note(null);
        else asked.current.delete(id); // asked for again with the next change
      });
    }
  }, [unknown.join()]);
  return new Map([...found, ...(known ?? [])]);
}
