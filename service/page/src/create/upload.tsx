// A program of the user's own: its trace, or its sources and how they are built and run.
import { useRef, useState } from "preact/hooks";
import { post, Problem } from "../lib/api.ts";
import { useStored } from "../lib/hooks.ts";
import { Choice } from "../ui/choice.tsx";
import { Action } from "../ui/parts.tsx";

export interface Uploaded { id: string; name: string; ranks: number }

const KINDS = [["trace", "a trace (.ht)"], ["source", "a source tree"]] as const;
/** What is told of a source tree, beside its archive. */
const RECIPE = [["build", "Command that builds it", "make CG CLASS=S NPROCS=16"], ["run", "Program and arguments", "bin/cg.S.16"], ["ranks", "Ranks of the run", "16"]] as const;

interface Draft { kind: "trace" | "source"; recipe: Record<string, string> }

export function Upload({ onDone }: { onDone: (application: Uploaded) => void }) {
  const [draft, setDraft] = useStored<Draft>("hamtune-upload", { kind: "trace", recipe: {} });
  const file = useRef<HTMLInputElement>(null);
  const [done, setDone] = useState<Uploaded | null>(null);
  async function send() {
    const chosen = file.current?.files?.[0];
    if (!chosen) throw new Problem(0, `Choose ${draft.kind === "trace" ? "the trace" : "the archive (tar, tar.gz or zip)"} first.`);
    const form = new FormData();
    if (draft.kind === "source") {
      for (const [name] of RECIPE) if (draft.recipe[name]?.trim()) form.set(name, draft.recipe[name].trim());
    }
    form.set(draft.kind, chosen);
    const found = await post<Uploaded>("/applications", form);
    setDone(found);
    onDone(found);
  }
  return (
    <details class="more">
      <summary>Upload another</summary>
      <div class="controls"><Choice label="What" options={KINDS} value={draft.kind} change={(kind) => setDraft((old) => ({ ...old, kind }))} /></div>
      <div class="form-grid">
        <div class="field">
          <label for="upload-file">{draft.kind === "trace" ? "Trace, as hamtune capture or hamtune recorder made it" : "Archive: tar, tar.gz or zip"}</label>
          <input id="upload-file" type="file" ref={file} />
        </div>
        {draft.kind === "source" && RECIPE.map(([name, label, example]) => (
          <div class="field" key={name}>
            <label for={`upload-${name}`}>{label}</label>
            <input id={`upload-${name}`} autocomplete="off" placeholder={example} value={draft.recipe[name] ?? ""}
              onInput={(event) => { const text = event.currentTarget.value; setDraft((old) => ({ ...old, recipe: { ...old.recipe, [name]: text } })); }} />
          </div>
        ))}
      </div>
      <p class="actions"><Action label="Upload" work={send} /> <span role="status">{done && `${done.name} with ${done.ranks} ranks is chosen.`}</span></p>
    </details>
  );
}
