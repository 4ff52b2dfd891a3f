// The job file as YAML: a plain text field, and the editor in its place once that has been loaded.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { JobEditor } from "../editor/editor.ts";
import { get, type Problem } from "../lib/api.ts";
import { described } from "../lib/described.ts";
import type { Schema } from "../lib/schema.ts";
import type { Catalogue } from "../lib/types.ts";

/** The module of the editor, and what it knows of job files; null where the service did not tell. */
type Loaded = Pick<typeof import("../editor/editor.ts"), "edit"> & { schema: Schema | null };

/** Both at once: an editor that knows nothing would let the first words pass without a suggestion. */
async function load(): Promise<Loaded> {
  const [editing, schema] = await Promise.all([import("../editor/editor.ts"), get<Schema>("/schema/job.json").catch(() => null)]);
  return { edit: editing.edit, schema };
}

/** `problem`: what is wrong with the text; `ready` is given the editor when it is there, and null when it no longer is. */
export function JobText({ text, change, problem, catalogue, ready }: {
  text: string; change: (text: string) => void; problem: Problem | null; catalogue: Catalogue | null; ready: (editor: JobEditor | null) => void;
}) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [editor, setEditor] = useState<JobEditor | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const typing = useRef<[number, number] | null>(null);
  const latest = useRef(change);
  latest.current = change;
  /** What was typed in the editor and has not come back as `text` yet: by then it may say more. */
  const sent = useRef<string[]>([]);
  /** The text that the editor was last given, or gave: as long as it stays, what is typed counts. */
  const known = useRef(text);

  useEffect(() => {
    let over = false;
    load().then((found) => {
      const field = area.current;
      if (field && document.activeElement === field) typing.current = [field.selectionStart, field.selectionEnd];
      if (!over) setLoaded(found);
    }, () => undefined); // the text field goes on
    return () => { over = true; };
  }, []);
  useLayoutEffect(() => {
    if (!loaded || !host.current) return;
    const made = loaded.edit(host.current, text, (now) => { sent.current.push(now); latest.current(now); });
    known.current = text;
    if (typing.current) made.focus(...typing.current);
    setEditor(made);
    ready(made);
    return () => { ready(null); made.destroy(); };
  }, [loaded]);
  useEffect(() => {
    if (text === known.current) return;
    known.current = text;
    const back = sent.current.lastIndexOf(text);
    sent.current.splice(0, back < 0 ? sent.current.length : back + 1);
    if (back < 0) editor?.set(text);
  }, [editor, text]);
  useEffect(() => {
    const schema = loaded?.schema;
    if (schema) editor?.know(catalogue ? described(schema, catalogue) : schema);
  }, [editor, catalogue]);
  useEffect(() => editor?.tell(problem), [editor, problem]);

  if (loaded) return <div id="job-text" class="editor" ref={host} />;
  return (
    <>
      <label class="visually-hidden" for="job-text">Job file as YAML</label>
      <textarea id="job-text" class="code" ref={area} spellcheck={false} value={text} aria-invalid={problem !== null}
        aria-describedby="job-problems" onInput={(event) => change(event.currentTarget.value)} />
    </>
  );
}
