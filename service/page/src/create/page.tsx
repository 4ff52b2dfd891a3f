// A new job: by a form or as YAML, checked by the service while it is written.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Picture } from "../best/network.tsx";
import type { JobEditor } from "../editor/editor.ts";
import { get, post, Problem } from "../lib/api.ts";
import { clock, count, plural } from "../lib/format.ts";
import { asProblem, useResource, useStored } from "../lib/hooks.ts";
import { go } from "../lib/router.ts";
import type { Catalogue, Checked, Job, Json, Page } from "../lib/types.ts";
import { unique } from "../lib/unique.ts";
import { yaml } from "../lib/yaml.ts";
import { Choice } from "../ui/choice.tsx";
import { Failure, Loading, Section } from "../ui/parts.tsx";
import type { Purpose } from "./applies.ts";
import { namesOf, type Document } from "./document.ts";
import { Schema } from "./field.tsx";
import { JobForm } from "./fields.tsx";
import { FilesShown, OpenFiles, useFiles } from "./files.tsx";
import { describing, documentOf, fileOf, formOf, INITIAL, keptOf, type Form } from "./form.ts";
import { Problems } from "./problems.tsx";
import { Purposes, Typed } from "./purpose.tsx";
import { repurposed, typedInVain } from "./purposes.ts";
import type { Received } from "./receive.ts";
import { newestOf, onPage, withFixed, worded, type StoredMachine, type StoredProgram } from "./stored.ts";
import { JobText } from "./text.tsx";

type Mode = "form" | "yaml";
const MODES = [["form", "form"], ["yaml", "YAML"]] as const;

/** `twin`: a text and the job file, as JSON, that were seen to say the same. */
interface Draft { mode: Mode; form: Form; text: string; twin?: { text: string; document: string } | null }

type Kept = ReturnType<typeof repurposed>["kept"];

/** A draft that another one has replaced; `isBack`: that one had been there before it. */
interface Before { draft: Draft; kept: Kept; archive: File | null; isBack: boolean }

export function CreatePage({ clone }: { clone: string | null }) {
  const original = useResource<Job>(clone ? `/jobs/${clone}` : null);
  const file = useResource<Job["spec"]>(clone ? `/jobs/${clone}/clone` : null);
  const error = original.error ?? file.error;
  if (clone && error) return <Failure problem={error} retry={original.error ? original.reload : file.reload} />;
  if (clone && !(original.data && file.data)) return <Loading what="the job to clone" />;
  const spec = file.data;
  return <Editor key={clone ?? "new"} name={clone ? `hamtune-draft-${clone}` : "hamtune-draft"}
    initial={{ mode: spec ? "yaml" : "form", form: INITIAL, text: spec ? yaml(fileOf(spec)) : "" }} cloned={original.data} />;
}

function Editor({ name, initial, cloned }: { name: string; initial: Draft; cloned: Job | null }) {
  const [draft, setDraft] = useStored<Draft>(name, initial);
  const { data: catalogue, error: away } = useResource<Catalogue>("/catalogue");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const key = useRef(unique());
  const programs = useResource<Page<StoredProgram>>("/applications?limit=100");
  const machines = useResource<Page<StoredMachine>>("/machines?limit=100&summary=true");
  const form = useMemo(() => withFixed({ ...INITIAL, ...draft.form }, machines.data?.items ?? []), [draft.form, machines.data]);
  const document = useMemo(() => documentOf(form, catalogue), [form, catalogue]);
  const body = draft.mode === "form" ? document : draft.text;
  const check = useCheck(body, draft.mode === "form" ? catalogue !== null : draft.text.trim() !== "", form.purpose);
  const shown = problem ?? check.problem;
  const wrong = useMemo(() => (shown && [400, 422].includes(shown.status) ? new Problem(shown.status, shown.message, onPage(shown.fields)) : null), [shown]);
  const errors = draft.mode === "form" ? worded(wrong?.fields ?? [], form) : wrong?.fields ?? [];
  const [editor, setEditor] = useState<JobEditor | null>(null);

  const [before, setBefore] = useState<Before | null>(null);
  const left = useRef(false);
  useEffect(() => () => { left.current = true; }, []);

  function change(part: Partial<Draft> | ((old: Draft) => Partial<Draft>)) {
    if (left.current) return; // what comes late would write an old draft over a newer one
    key.current = unique(); // another job is another request
    setProblem(null);
    setDraft((old) => ({ ...old, ...(typeof part === "function" ? part(old) : part) }));
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
  async function load(text: string, signal?: AbortSignal) {
    const known = catalogue ?? await get<Catalogue>("/catalogue", signal);
    const { document: read } = await post<{ document: Json }>("/jobs/read", text, {}, signal);
    const filled = formOf(read, known, new Set(machines.data?.items.filter((one) => one.network).map((one) => one.id)));
    setKept([]);
    change({ mode: "form", form: filled, text, twin: { text, document: JSON.stringify(documentOf(filled, known)) } });
  }
  async function fill(text: string) {
    try {
      await load(text);
    } catch (error) {
      change({ text });
      setProblem(asProblem(error));
    }
  }
  const { data: schema } = useResource<Document>("/schema/job.json");
  const [kept, setKept] = useState<Kept>([]);
  const [archive, setArchive] = useState<File | null>(null);
  // In YAML the hidden form says nothing of the job.
  const files = useFiles({ catalogue, form: draft.mode === "yaml" ? INITIAL : form, take });
  const alter = (part: Partial<Form> | ((old: Form) => Form)) => change(({ form: before }) => {
    const old = { ...INITIAL, ...before };
    return { form: typeof part === "function" ? part(old) : { ...old, ...part } };
  });

  function use(purpose: Purpose) {
    const next = repurposed(form, purpose, newestOf(programs.data?.items ?? [], machines.data?.items ?? []));
    setKept(next.kept);
    change({ form: next.form });
  }
  /** What came of a dropped file; in YAML the job file is the author's, who is told what to write. */
  async function take({ said, form: inForm = "", yaml: inText = "", change: part, text, archive: sources }: Received, signal: AbortSignal): Promise<string> {
    if (text !== undefined) {
      await load(text, signal);
      return said;
    }
    programs.reload();
    machines.reload();
    if (draft.mode === "yaml") return said + inText;
    if (sources) setArchive(sources);
    if (part) alter(part);
    return said + inForm;
  }
  /** A stored machine in the fields that describe one. */
  async function describe(id: string) {
    if (!catalogue) return;
    const { machine } = await get<{ machine: Document }>(`/machines/${id}`);
    alter((old) => describing(old, machine, catalogue));
  }
  /** Puts another draft in the place of the one at hand, which can be had back. */
  function swap(other: Omit<Before, "isBack">, isBack: boolean) {
    const isUntouched = !archive && !files.lines.length && JSON.stringify(draft) === JSON.stringify(initial);
    setBefore(isUntouched ? null : { draft, kept, archive, isBack });
    setKept(other.kept);
    setArchive(other.archive);
    files.clear();
    change(other.draft);
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
          <OpenFiles open={files.open} />
          <Choice label="As" options={MODES} value={draft.mode} change={switchTo} />
        </span>
      </div>
      {away && <Failure problem={away} />}
      <FilesShown files={files} catalogue={catalogue} />
      {draft.mode === "form" && catalogue && <><Purposes value={form.purpose} change={use} /><Typed kept={kept} vain={typedInVain(form, catalogue)} /></>}
      <div class="create">
        <form noValidate onSubmit={(event) => { event.preventDefault(); void create(); }} aria-label="Job">
          {draft.mode === "form"
            ? (catalogue ? <><KeptFields form={form} drop={() => alter({ rest: {} })} /><Schema.Provider value={schema}><JobForm form={form} catalogue={catalogue} errors={errors} stored={{ programs, machines }} archive={archive} uploaded={() => setArchive(null)} change={alter} describe={describe} /></Schema.Provider></> : !away && <Loading what="what there is to choose from" />)
            : (
              <Section title="Job file">
                <JobText text={draft.text} change={(text) => change({ text })} problem={wrong} catalogue={catalogue} ready={setEditor} />
                <p class="actions">
                  <button type="button" class="small" disabled={!draft.text.trim()} onClick={() => void fill(draft.text)}>Edit as a form</button>
                  {catalogue && <button type="button" class="small" onClick={() => change({ text: yaml(catalogue.example) })}>Insert an example</button>}
                </p>
              </Section>
            )}
          <div id="job-problems" aria-live="polite">
            {shown && <Problems problem={shown} fields={errors} reveal={editor?.reveal} />}
          </div>
          <p class="actions">
            <button type="submit" class="primary" disabled={busy} aria-busy={busy}>Create the job</button>
            <button type="button" onClick={() => swap({ draft: initial, kept: [], archive: null }, false)}>Start over</button>
          </p>
          <StartedOver before={before} undo={(one) => swap(one, !one.isBack)} dismiss={() => setBefore(null)} />
        </form>
        <aside class="side" aria-label="Preview of the job"><Preview checked={check.data} waiting={check.waiting} stale={shown !== null} /></aside>
      </div>
    </>
  );
}

/** What a draft was replaced by: a form as it is at first, or, with `isBack`, what had been there before that. */
function StartedOver({ before, undo, dismiss }: { before: Before | null; undo: (before: Before) => void; dismiss: () => void }) {
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => shown.current?.scrollIntoView({ block: "nearest" }), [before]);
  return (
    <div role="status">
      {before && (
        <div class="notice" ref={shown}>
          <p>{before.isBack ? "What was there before is back." : "Started over. What was there is kept until you leave this view."}</p>
          <p class="actions">
            <button type="button" class="primary" onClick={() => undo(before)}>{before.isBack ? "Redo" : "Undo"}</button>
            <button type="button" onClick={dismiss}>Dismiss</button>
          </p>
        </div>
      )}
    </div>
  );
}

/** What came from a job file and has no field in the form. */
function KeptFields({ form, drop }: { form: Form; drop: () => void }) {
  const names = namesOf(keptOf(form));
  if (!names.length) return null;
  return (
    <div class="notice">
      <p>Kept from the job file as they are, since the form has no field for them: {names.map((name, i) => <>{i > 0 && ", "}<code key={name}>{name}</code></>)}.
        {" "}<button type="button" class="small" onClick={drop}>Leave them out</button></p>
    </div>
  );
}

interface Check { purpose?: Purpose; data: Checked | null; problem: Problem | null; waiting: boolean }

/** Asks the service what it thinks of the job file, a moment after the last change; for another purpose it is another job. */
function useCheck(body: unknown, ready: boolean, purpose: Purpose): Check {
  const [state, setState] = useState<Check>({ data: null, problem: null, waiting: true });
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!ready) { setState((old) => ({ ...old, problem: null, waiting: false })); return; }
    let over = false;
    setState((old) => ({ ...old, waiting: true }));
    const timer = setTimeout(() => {
      post<Checked>("/jobs/check", body).then(
        (data) => { if (!over) setState({ purpose, data, problem: null, waiting: false }); },
        (error: unknown) => { if (!over) setState((old) => ({ ...old, problem: asProblem(error), waiting: false })); },
      );
    }, 300);
    return () => { over = true; clearTimeout(timer); };
  }, [text, ready, turn, purpose]);
  useEffect(() => {
    if (!state.problem?.away) return;
    const timer = setTimeout(() => setTurn((n) => n + 1), 1500);
    return () => clearTimeout(timer);
  }, [state]);
  return state.purpose === purpose ? state : { ...state, data: null };
}

function Preview({ checked, waiting, stale }: { checked: Checked | null; waiting: boolean; stale: boolean }) {
  if (!checked) return <Section title="Preview">{waiting ? <Loading what="the check" /> : <p class="quiet">Shown once the job file is valid.</p>}</Section>;
  const { space, estimate } = checked;
  return (
    <Section title="Preview" aside={stale ? <span class="quiet">of the last valid job file</span> : undefined}>
      <dl class="pairs">
        <dt>Search space</dt><dd>{space ? plural(space.size, "configuration") : "–"}</dd>
        {space?.baselines && <><dt>Baselines</dt><dd>{space.baselines.length}</dd></>}
        {checked.learned_from.length > 0 && <><dt>Learns from</dt><dd>{checked.learned_from.map((one) => one.name).join(", ")}</dd></>}
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
