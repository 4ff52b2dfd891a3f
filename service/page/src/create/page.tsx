// A new job: by a form or as YAML, checked by the service while it is written.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Picture } from "../best/network.tsx";
import { get, post, Problem } from "../lib/api.ts";
import { clock, count, plural } from "../lib/format.ts";
import { asProblem, useResource, useStored } from "../lib/hooks.ts";
import { go } from "../lib/router.ts";
import type { Catalogue, Checked, Job, Json } from "../lib/types.ts";
import { yaml } from "../lib/yaml.ts";
import { Choice } from "../ui/choice.tsx";
import { AnotherKey, Failure, Loading, Section } from "../ui/parts.tsx";
import { JobForm } from "./fields.tsx";
import { documentOf, fileOf, formOf, INITIAL, namesOf, type Form } from "./form.ts";

type Mode = "form" | "yaml";
const MODES = [["form", "form"], ["yaml", "YAML"]] as const;

/** `twin`: a text and the job file, as JSON, that were seen to say the same. */
interface Draft { mode: Mode; form: Form; text: string; twin?: { text: string; document: string } | null }

export function CreatePage({ clone }: { clone: string | null }) {
  const original = useResource<Job>(clone ? `/jobs/${clone}` : null);
  if (clone && original.error) return <Failure problem={original.error} retry={original.reload} />;
  if (clone && !original.data) return <Loading what="the job to clone" />;
  const spec = original.data?.spec;
  return <Editor key={clone ?? "new"} name={clone ? `hamtune-draft-${clone}` : "hamtune-draft"}
    initial={{ mode: spec ? "yaml" : "form", form: INITIAL, text: spec ? yaml(fileOf(spec)) : "" }} cloned={original.data} />;
}

function Editor({ name, initial, cloned }: { name: string; initial: Draft; cloned: Job | null }) {
  const [draft, setDraft] = useStored<Draft>(name, initial);
  const { data: catalogue, error: away } = useResource<Catalogue>("/catalogue");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const key = useRef(crypto.randomUUID());
  const form = { ...INITIAL, ...draft.form };
  const document = useMemo(() => documentOf(form, catalogue), [draft.form, catalogue]);
  const body = draft.mode === "form" ? document : draft.text;
  const check = useCheck(body, draft.mode === "form" ? catalogue !== null : draft.text.trim() !== "");
  const shown = problem ?? check.problem;
  const errors = shown && !shown.away ? shown.fields : [];

  function change(part: Partial<Draft>) {
    key.current = crypto.randomUUID(); // another job is another request
    setProblem(null);
    setDraft((old) => ({ ...old, ...part }));
  }
  /** The form and the YAML are two looks at one job file: whoever leaves one finds it in the other. */
  function switchTo(mode: Mode) {
    const { twin } = draft;
    if (mode === "form") {
      if (!draft.text.trim() || twin?.text === draft.text) change({ mode });
      else void fill(draft.text);
      return;
    }
    const said = JSON.stringify(document);
    if (twin?.document === said) change({ mode, text: twin.text }); // with its comments
    else change({ mode, text: yaml(document), twin: { text: yaml(document), document: said } });
  }
  async function fill(text: string) {
    try {
      const known = catalogue ?? await get<Catalogue>("/catalogue");
      const { document: read } = await post<{ document: Json }>("/jobs/read", text);
      const filled = formOf(read, known);
      change({ mode: "form", form: filled, text, twin: { text, document: JSON.stringify(documentOf(filled, known)) } });
    } catch (error) {
      change({ text });
      setProblem(asProblem(error));
    }
  }
  async function open(file: File | undefined) {
    if (file) await fill(await file.text());
  }
  async function create() {
    setBusy(true);
    setProblem(null);
    try {
      const job = await post<Job>("/jobs", body, { "Idempotency-Key": key.current });
      localStorage.removeItem(name);
      go(["jobs", job.id]);
      return;
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  }

  return (
    <>
      <div class="page-head"><h1>{cloned ? `Clone of ${cloned.name}` : "New job"}</h1>
        <span class="actions">
          <label class="button">Open a job file<input type="file" class="visually-hidden" accept=".yaml,.yml,.json,text/plain"
            onChange={(event) => { void open(event.currentTarget.files?.[0]); event.currentTarget.value = ""; }} /></label>
          <Choice label="As" options={MODES} value={draft.mode} change={switchTo} />
        </span>
      </div>
      {away && <Failure problem={away} />}
      <div class="create">
        <form noValidate onSubmit={(event) => { event.preventDefault(); void create(); }} aria-label="Job">
          {draft.mode === "form"
            ? (catalogue ? <><Kept form={form} drop={() => change({ form: { ...form, rest: {} } })} /><JobForm form={form} catalogue={catalogue} errors={errors} change={(part) => change({ form: { ...form, ...part } })} /></> : !away && <Loading what="what there is to choose from" />)
            : (
              <Section title="Job file">
                <label class="visually-hidden" for="job-text">Job file as YAML</label>
                <textarea id="job-text" class="code" spellcheck={false} value={draft.text} aria-invalid={errors.length > 0}
                  aria-describedby="job-problems" onInput={(event) => change({ text: event.currentTarget.value })} />
                <p class="actions">
                  <button type="button" class="small" disabled={!draft.text.trim()} onClick={() => void fill(draft.text)}>Edit as a form</button>
                  {catalogue && <button type="button" class="small" onClick={() => change({ text: yaml(catalogue.example) })}>Insert an example</button>}
                </p>
              </Section>
            )}
          <div id="job-problems" aria-live="polite">
            {shown && (
              <div class={shown.away ? "notice warn" : "notice bad"}>
                {shown.away ? <p>{shown.message} What you typed is kept; the page goes on by itself.</p>
                  : shown.fields.length ? <ul>{shown.fields.map((one) => <li key={`${one.field} ${one.message}`}><b>{one.field}</b>: {one.message}</li>)}</ul>
                  : shown.refused ? <p>{shown.message}. What you typed is kept. <AnotherKey /></p>
                  : <p>{shown.message}</p>}
              </div>
            )}
          </div>
          <p class="actions">
            <button type="submit" class="primary" disabled={busy} aria-busy={busy}>Create the job</button>
            <button type="button" onClick={() => change(initial)}>Start over</button>
          </p>
        </form>
        <aside class="side" aria-label="Preview of the job"><Preview checked={check.data} waiting={check.waiting} stale={shown !== null} /></aside>
      </div>
    </>
  );
}

/** What came from a job file and has no field in the form. */
function Kept({ form, drop }: { form: Form; drop: () => void }) {
  const names = namesOf(form.rest);
  if (!names.length) return null;
  return (
    <div class="notice">
      <p>From the job file, as they are there: {names.map((name, i) => <>{i > 0 && ", "}<code key={name}>{name}</code></>)}. The form has no field for them.
        {" "}<button type="button" class="small" onClick={drop}>Leave them out</button></p>
    </div>
  );
}

interface Check { data: Checked | null; problem: Problem | null; waiting: boolean }

/** Asks the service what it thinks of the job file, a moment after the last change. */
function useCheck(body: unknown, ready: boolean): Check {
  const [state, setState] = useState<Check>({ data: null, problem: null, waiting: true });
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!ready) { setState((old) => ({ ...old, problem: null, waiting: false })); return; }
    let over = false;
    setState((old) => ({ ...old, waiting: true }));
    const timer = setTimeout(() => {
      post<Checked>("/jobs/check", body).then(
        (data) => { if (!over) setState({ data, problem: null, waiting: false }); },
        (error: unknown) => { if (!over) setState((old) => ({ data: old.data, problem: asProblem(error), waiting: false })); },
      );
    }, 300);
    return () => { over = true; clearTimeout(timer); };
  }, [text, ready, turn]);
  useEffect(() => {
    if (!state.problem?.away) return;
    const timer = setTimeout(() => setTurn((n) => n + 1), 1500);
    return () => clearTimeout(timer);
  }, [state]);
  return state;
}

function Preview({ checked, waiting, stale }: { checked: Checked | null; waiting: boolean; stale: boolean }) {
  if (!checked) return <Section title="Preview">{waiting ? <Loading what="the check" /> : <p class="quiet">Shown once the job file is valid.</p>}</Section>;
  const { space, estimate } = checked;
  return (
    <Section title="Preview" aside={stale ? <span class="quiet">of the last valid job file</span> : undefined}>
      <dl class="pairs">
        <dt>Search space</dt><dd>{space ? plural(space.size, "configuration") : "–"}</dd>
        {space?.baselines && <><dt>Baselines</dt><dd>{space.baselines.length}</dd></>}
        <dt>Trials</dt><dd>{estimate.trials === null ? "no limit" : `at most ${count(estimate.trials)}`}</dd>
        <dt>Time</dt><dd>{estimate.seconds === null ? "not known" : `about ${clock(estimate.seconds)}`}<span class="sub">{estimate.note}</span></dd>
      </dl>
      {checked.note && <p class="quiet small-text">{checked.note}</p>}
      {space && (
        <details class="more"><summary>{plural(space.parameters.length, "parameter")}</summary>
          <ul>{space.parameters.map((one) => <li key={one.name}>{one.name}{Array.isArray(one["values"]) ? `: ${one["values"].length} values` : ""}</li>)}</ul>
        </details>
      )}
      {(space?.excluded?.length ?? 0) > 0 && (
        <details class="more"><summary>{space?.excluded?.length} left out</summary>
          <ul>{space?.excluded?.map((one) => <li key={`${one.parameter} ${String(one.value)}`}>{one.parameter}{one.value === null ? "" : ` = ${String(one.value)}`}: {one.reason}</li>)}</ul>
        </details>
      )}
      <h3>Network</h3>
      {checked.network ? <><Picture drawing={checked.network} label={checked.network_note ?? "the network"} /><p class="quiet small-text">{checked.network_note}</p></> : <p class="quiet">{checked.network_note}</p>}
    </Section>
  );
}
