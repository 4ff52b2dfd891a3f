// The views that the page has, and which of them an address stands for.
import { tabOf, TABS, type Tab } from "./tabs.ts";
import type { Route } from "./address.ts";

export type View = "jobs" | "new" | "compare" | "notifications" | "nothing" | `job/${Tab}`;

/** All of them: `nothing` is what an address without a view leads to. */
export const VIEWS: readonly View[] = ["jobs", ...TABS.map(([tab]): View => `job/${tab}`), "new", "compare", "notifications", "nothing"];

export function viewOf({ parts: [first = "jobs", id, tab] }: Pick<Route, "parts">): View {
  if (first === "jobs") return id ? `job/${tabOf(tab)}` : "jobs";
  return first === "new" || first === "compare" || first === "notifications" ? first : "nothing";
}
