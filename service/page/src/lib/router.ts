// Where the page is: its address as a value that is followed, and ways to another.
import { useEffect, useState } from "preact/hooks";
import { parse, type Route } from "./address.ts";

export type { Route };

export function href(parts: string[], query: Record<string, string | null | undefined> = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const tail = given.length ? `?${new URLSearchParams(given)}` : "";
  return `#/${parts.map(encodeURIComponent).join("/")}${tail}`;
}

export function go(parts: string[], query: Record<string, string | null | undefined> = {}): void {
  location.hash = href(parts, query);
}

/** Change the address without a new entry in the history: for filters and tabs. */
export function replace(parts: string[], query: Record<string, string | null | undefined> = {}): void {
  history.replaceState(null, "", href(parts, query));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const moved = () => setRoute(parse(location.hash));
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, []);
  return route;
}
