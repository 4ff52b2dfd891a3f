import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { get, Problem } from "./api.ts";
import { whenIdle } from "./idle.ts";

export interface Resource<T> {
  data: T | null;
  error: Problem | null;
  loading: boolean;
  reload(): void;
}

export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, error instanceof Error ? error.message : String(error));
}

/** A document of the service; what was there stays on show while it is asked for again. */
export function useResource<T>(path: string | null): Resource<T> {
  const [state, setState] = useState<{ path: string | null; data: T | null; error: Problem | null }>({
    path, data: null, error: null,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const control = new AbortController();
    get<T>(path, control.signal).then(
      (data) => setState({ path, data, error: null }),
      (error: unknown) => {
        if (!control.signal.aborted) {
          setState((old) => ({ path, data: old.path === path ? old.data : null, error: asProblem(error) }));
        }
      },
    );
    return () => control.abort();
  }, [path, turn]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const current = state.path === path;
  return {
    data: current ? state.data : null,
    error: current ? state.error : null,
    loading: path !== null && (!current || (state.data === null && state.error === null)),
    reload,
  };
}

/** A document that rests on all trials of a job: asked for again when more have ended, after a pause. */
export function useFollowed<T>(path: string | null, trials: number, pause = 1_000 + trials / 2): Resource<T> {
  const resource = useResource<T>(path);
  const latest = useRef(trials);
  latest.current = trials;
  const asked = useRef(trials);
  const timer = useRef(0);
  useEffect(() => {
    if (asked.current === trials || timer.current) return;
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      asked.current = latest.current;
      resource.reload();
    }, pause);
  }, [trials]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return resource;
}

/** Calls back every so often while the page is looked at; null stops. */
export function useInterval(call: () => void, milliseconds: number | null): void {
  const latest = useRef(call);
  latest.current = call;
  useEffect(() => {
    if (milliseconds === null) return;
    const timer = setInterval(() => { if (!document.hidden) latest.current(); }, milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}

/** False until there was time for what need not be there at first. */
export function useIdle(): boolean {
  const [idle, setIdle] = useState(false);
  useEffect(() => whenIdle(() => setIdle(true)), []);
  return idle;
}

/** The width of an element, followed as it changes. */
export function useWidth<E extends Element>(): [(element: E | null) => void, number] {
  const [width, setWidth] = useState(0);
  const observer = useRef<ResizeObserver | null>(null);
  const attach = useCallback((element: E | null) => {
    observer.current?.disconnect();
    observer.current = null;
    if (!element) return;
    setWidth(Math.floor(element.getBoundingClientRect().width));
    observer.current = new ResizeObserver((entries) => {
      const found = entries[0]?.contentRect.width;
      if (found) setWidth(Math.floor(found));
    });
    observer.current.observe(element);
  }, []);
  return [attach, width];
}

/** A value that lives in the browser's storage: what was typed outlives reloads and restarts. */
export function useStored<T>(name: string, initial: T): [T, (value: T | ((old: T) => T)) => void] {
  const [value, setValue] = useState<T>(() => {
    try {
      const kept = localStorage.getItem(name);
      return kept === null ? initial : (JSON.parse(kept) as T);
    } catch {
      return initial;
    }
  });
  const store = useCallback((next: T | ((old: T) => T)) => {
    setValue((old) => {
      const chosen = typeof next === "function" ? (next as (old: T) => T)(old) : next;
      try {
        localStorage.setItem(name, JSON.stringify(chosen));
      } catch {
        // Storage is full or forbidden: the value still lives as long as the page.
      }
      return chosen;
    });
  }, [name]);
  return [value, store];
}

/** Turns whenever the colours change: canvases have to be painted again. */
export function useScheme(): string {
  const read = () => document.documentElement.dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const [scheme, setScheme] = useState(read);
  useEffect(() => {
    const again = () => setScheme(read());
    const query = matchMedia("(prefers-color-scheme: dark)");
    query.addEventListener("change", again);
    window.addEventListener("themechange", again);
    return () => {
      query.removeEventListener("change", again);
      window.removeEventListener("themechange", again);
    };
  }, []);
  return scheme;
}
