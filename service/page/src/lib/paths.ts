// What the first look at a view asks for: told by the script and by `early.ts`, which is there first.
import type { Route } from "./address.ts";
import { ACTIVE } from "./types.ts";

export const POINTS = 2500;
export const LIMIT = 50;
const LONGEST = 200; // characters of what is searched for
const ASIDE = ["archived", "deleted"];

export function jobPath(id: string): string { return `/jobs/${encodeURIComponent(id)}`; }

/** The trials after a number; from the start a long convergence is thinned. */
export function tablePath(id: string, after = 0): string {
  return `${jobPath(id)}/table?after=${after}${after ? "" : `&points=${POINTS}`}`;
}

export function jobsPath(filter: string, search: string, cursor: string | null): string {
  const query = new URLSearchParams({ limit: String(LIMIT) });
  const states = filter === "active" ? ACTIVE : filter && !ASIDE.includes(filter) ? [filter] : [];
  states.forEach((state) => query.append("state", state));
  if (ASIDE.includes(filter)) query.set(filter, "only");
  if (search) query.set("search", search);
  if (cursor) query.set("cursor", cursor);
  return `/jobs?${query}`;
}

/** Deleted jobs of which one may have this id. */
export function deletedPath(id: string): string { return jobsPath("deleted", id.slice(0, LONGEST), null); }

/** The paths that a view begins with. */
export function firstPaths({ parts: [view = "jobs", id], query }: Route): string[] {
  if (view !== "jobs") return [];
  return id ? [tablePath(id), jobPath(id)] : [jobsPath(query.get("state") ?? "", query.get("search") ?? "", null)];
}
