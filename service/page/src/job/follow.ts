// Keeps a job and its trials up to date: events say that something changed, the table says what.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { get, Problem, request } from "../lib/api.ts";
import { asProblem } from "../lib/hooks.ts";
import { jobPath, POINTS, tablePath } from "../lib/paths.ts";
import { follow, type Connection } from "../lib/sse.ts";
import { merge, settledUpTo, thin, type Convergence } from "../lib/table.ts";
import { ENDED, type Job, type LogEvent, type Table } from "../lib/types.ts";

const MOST_ROWS = 4000;
const SOON = 200; // milliseconds in which events are gathered before the service is asked

/** Asking again would be answered alike: it is not there, or not for us. */
function isRefusal(problem: Problem): boolean {
  return problem.status >= 400 && problem.status < 500 && problem.status !== 429;
}

export interface Followed {
  job: Job | null;
  convergence: Convergence | null;
  connection: Connection;
  problem: Problem | null;
  refresh(): void;
  /** Begins anew, also after a refusal. */
  restart(): void;
}

export function useJob(id: string): Followed {
  const [job, setJob] = useState<Job | null>(null);
  const [convergence, setConvergence] = useState<Convergence | null>(null);
  const [connection, setConnection] = useState<Connection>("connecting");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [turn, setTurn] = useState(0);
  const ask = useRef<() => void>(() => undefined);

  useEffect(() => {
    const control = new AbortController();
    const { signal } = control;
    let known: Convergence | null = null;
    let current: Job | null = null;
    let busy = false;
    let again = false;
    let timer = 0;
    let refusal: Problem | null = null;
    setJob(null);
    setConvergence(null);
    setProblem(null);
    setConnection("connecting");

    async function refresh(): Promise<void> {
      if (busy) { again = true; return; }
      busy = true;
      try {
        const after = settledUpTo(known);
        const [table, found] = await Promise.all([
          get<Table>(tablePath(id, after), signal),
          get<Job>(jobPath(id), signal),
        ]);
        known = merge(known, table, after);
        if (known.rows.length > MOST_ROWS) known = { ...known, rows: thin(known.rows, POINTS) };
        current = found;
        setConvergence(known);
        setJob(found);
        setProblem(null);
      } catch (error) {
        if (!signal.aborted) {
          const found = asProblem(error);
          setProblem(found);
          if (isRefusal(found)) {
            // Nothing that is asked any more would be answered.
            refusal = found;
            control.abort();
            setConnection("refused");
          }
        }
      }
      busy = false;
      if (again && !signal.aborted) { again = false; soon(); }
    }

    function soon(): void {
      if (!timer) timer = window.setTimeout(() => { timer = 0; void refresh(); }, SOON);
    }
    ask.current = soon;

    /** Nothing comes any more, and all that came is here. */
    function isComplete(): boolean {
      return current !== null && known !== null && ENDED.includes(current.state) && known.total === current.progress.finished;
    }

    async function run(): Promise<void> {
      await refresh();
      if (refusal) return;
      if (isComplete()) {
        setConnection("ended");
        return;
      }
      let gone = false;
      let lost = false;
      // Only what happens from now on: the table holds what was before, and says from where on.
      await follow(known === null ? "" : String((known as Convergence).cursor), {
        open: async (cursor, abort) => {
          const after = cursor ? `?after=${cursor}` : "";
          const response = await request(`/jobs/${id}/events${after}`, { signal: abort });
          if (!response.body) throw new Problem(0, "The browser cannot read streams.");
          return response.body;
        },
        onMessage: (message) => {
          const event = JSON.parse(message.data) as LogEvent;
          if (event.kind === "job" && event.data.state === "deleted") gone = true;
          soon();
        },
        onConnection: (state) => {
          setConnection(state);
          // From the cursor on nothing is missed; after a break the page may be long behind.
          if (state === "live" && (lost || known === null)) soon();
          lost = state === "lost";
        },
        isOver: () => gone || (current !== null && ENDED.includes(current.state)),
        isFinal: (error) => {
          if (!(error instanceof Problem) || !isRefusal(error)) return false;
          refusal = error;
          setProblem(error);
          return true;
        },
      }, signal);
      if (!refusal) await refresh();
    }
    void run();
    return () => { control.abort(); window.clearTimeout(timer); };
  }, [id, turn]);

  const refresh = useCallback(() => ask.current(), []);
  const restart = useCallback(() => setTurn((n) => n + 1), []);
  return { job, convergence, connection, problem, refresh, restart };
}
