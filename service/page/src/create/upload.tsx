// A program of the user's own: its trace, or its sources and how they are built and run.
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem, upload } from "../lib/api.ts";
import { bytes } from "../lib/format.ts";
import { useStored } from "../lib/hooks.ts";
import { Choice } from "../ui/choice.tsx";
import { Action } from "../ui/parts.tsx";
import { Field } from "./field.tsx";
import { within } from "./sizes.ts";

export interface Uploaded { id: string; name: string; ranks: number }

const KINDS = [["trace", "a trace (.ht)"], ["source", "a source tree"]] as const;
/** What is told of a source tree, beside its archive: with the place in a job file that says what it means. */
const RECIPE = [["build", "Command that builds it", "make CG CLASS=S NPROCS=16"], ["run", "Program and arguments", "bin/cg.S.16"], ["ranks", "Ranks of the run", "16"]] as const;

interface Draft { kind: "trace" | "source"; recipe: Record<string, string> }

/** `archive`: sources that were dropped, which still want to be told how they are built and run; `limit`: bytes. */
export function Upload({ archive, limit, onDone }: { archive: File | null; limit: number; onDone: (application: Uploaded) => void }) {
  const [draft, setDraft] = useStored<Draft>("hamtune-upload", { kind: "trace", recipe: {} });
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState<File | null>(null);
  const [share, setShare] = useState<number | null>(null);
  const [done, setDone] = useState<Uploaded | null>(null);
  const control = useRef(new AbortController());
  useEffect(() => () => control.current.abort(), []);
  useEffect(() => {
    if (!archive) return;
    setChosen(archive);
    setOpen(true);
    setDraft((old) => ({ ...old, kind: "source" }));
  }, [archive]);
  async function send() {
    if (!chosen) throw new Problem(0, `Choose ${draft.kind === "trace" ? "the trace" : "the archive (tar, tar.gz or zip)"} first.`);
    within(chosen, limit);
    const form = new FormData();
    if (draft.kind === "source") {
      for (const [name] of RECIPE) if (draft.recipe[name]?.trim()) form.set(name, draft.recipe[name].trim());
    }
    form.set(draft.kind, chosen);
    setDone(null);
    setShare(0);
    control.current = new AbortController();
    try {
      const found = await upload<Uploaded>("/applications", form, setShare, control.current.signal);
      setDone(found);
      onDone(found);
    } finally {
      setShare(null);
    }
  }
  return (
    <details class="more" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Upload another</summary>
      <div class="controls"><Choice label="What" options={KINDS} value={draft.kind} change={(kind) => setDraft((old) => ({ ...old, kind }))} /></div>
      <div class="form-grid">
        <div class="field">
          <label for="upload-file">{draft.kind === "trace" ? "Trace, as hamtune capture or hamtune recorder made it" : "Archive: tar, tar.gz or zip"}</label>
          <input id="upload-file" type="file" aria-describedby="upload-chosen" onChange={(event) => setChosen(event.currentTarget.files?.[0] ?? null)} />
          <span class="sub" id="upload-chosen">{chosen && `${chosen.name}, ${bytes(chosen.size)}`}</span>
        </div>
        {draft.kind === "source" && RECIPE.map(([name, label, example]) => (
          <Field key={name} label={label} errors={[]} meaning={`application.${name}`}>
            <input autocomplete="off" placeholder={example} value={draft.recipe[name] ?? ""}
              onInput={(event) => { const text = (event.currentTarget as HTMLInputElement).value; setDraft((old) => ({ ...old, recipe: { ...old.recipe, [name]: text } })); }} />
          </Field>
        ))}
      </div>
      <p class="actions"><Action label="Upload" work={send} />
        {share !== null && <><progress aria-label="Upload" value={share} max={1} /><button type="button" class="small" onClick={() => control.current.abort()}>Stop</button></>}
        <span role="status">{done && `${done.name} with ${done.ranks} ranks is chosen.`}</span></p>
    </details>
  );
}
