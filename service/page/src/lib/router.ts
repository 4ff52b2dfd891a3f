// Addresses of the page: everything after the hash, so that each view can be linked and reloaded.
import { useEffect, useState } from "preact/hooks";

export interface Route { parts: string[]; query: URLSearchParams }

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { parts: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) };
}

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
