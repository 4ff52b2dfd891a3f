// What people call a job and say of it, and a form that changes that.
import { useState } from "preact/hooks";
import { patch, type Problem } from "../lib/api.ts";
import { asProblem } from "../lib/hooks.ts";
import { href } from "../lib/router.ts";
import type { Job } from "../lib/types.ts";

export function Description({ job, onChange }: { job: Job; onChange: () => void }) {
  const [editing, setEditing] = useState(false);
  if (editing) return <Form job={job} close={() => setEditing(false)} onChange={onChange} />;
  return (
    <div class="description">
      {job.tags.length > 0 && <ul class="tags" aria-label="Tags">{job.tags.map((tag) => <li key={tag}><Tag tag={tag} /></li>)}</ul>}
      {job.note && <p class="note">{job.note}</p>}
      <button type="button" class="plain" onClick={() => setEditing(true)}>{job.note || job.tags.length ? "Edit name, note and tags" : "Add a note or tags"}</button>
    </div>
  );
}

/** A tag, which leads to the jobs that have it. */
export function Tag({ tag }: { tag: string }) {
  return <a class="tag" href={href(["jobs"], { search: tag })}>{tag}</a>;
}

function Form({ job, close, onChange }: { job: Job; close: () => void; onChange: () => void }) {
  // What others change meanwhile does not change what is being typed.
  const [name, setName] = useState(job.name);
  const [tags, setTags] = useState(job.tags.join(", "));
  const [note, setNote] = useState(job.note);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  async function save(event: Event) {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    const changes = { name: name.trim(), note, tags: tags.split(",").map((tag) => tag.trim()).filter(Boolean) };
    try {
      await patch<Job>(`/jobs/${job.id}`, changes);
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
      return;
    }
    onChange();
    close();
  }
  return (
    <form class="description editing" aria-label="Name, note and tags" onSubmit={(event) => void save(event)}>
      <label>Name <input required maxLength={200} value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
      <label>Tags <input value={tags} placeholder="separated by commas" onInput={(event) => setTags(event.currentTarget.value)} /></label>
      <label>Note <textarea rows={3} maxLength={10000} value={note} onInput={(event) => setNote(event.currentTarget.value)} /></label>
      <div class="actions">
        <button class="primary" disabled={busy} aria-busy={busy}>Save</button>
        <button type="button" onClick={close}>Discard</button>
      </div>
      {problem && <p class="problem" role="alert">{problem.message}</p>}
    </form>
  );
}
