// Files for the form: dropped anywhere on the view, or chosen with a button.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { bytes } from "../lib/format.ts";
import { asProblem } from "../lib/hooks.ts";
import type { Catalogue } from "../lib/types.ts";
import type { Form } from "./form.ts";
import { receive, sorted, type Received } from "./receive.ts";
import { WELCOME } from "./recognise.ts";

interface Line { said: string; wrong: boolean }

interface Sending { name: string; share: number; stop: () => void }

export interface FilesProps {
  catalogue: Catalogue | null;
  form: Form;
  /** Takes what came of a file, unless that is stopped; says so. */
  take: (received: Received, signal: AbortSignal) => Promise<string>;
}

/** What came of the files, the one that is on its way, and what takes more. */
export function useFiles({ catalogue, form, take }: FilesProps) {
  const [lines, setLines] = useState<Line[]>([]);
  const [sending, setSending] = useState<Sending | null>(null);
  const [over, setOver] = useState(false);
  const latest = useRef({ catalogue, form, take });
  latest.current = { catalogue, form, take };
  const busy = useRef(false);
  const control = useRef(new AbortController());
  const left = useRef(false);
  const early = useRef<File[]>([]);

  async function open(files: readonly File[]) {
    if (!files.length) return;
    if (!latest.current.catalogue) {
      early.current.push(...files);
      setLines([{ said: `${early.current.map((one) => one.name).join(", ")}: opened as soon as the service has answered.`, wrong: false }]);
      return;
    }
    if (busy.current) {
      setLines((old) => [...old, { said: "Other files are still being sent; open these again when they are done.", wrong: true }]);
      return;
    }
    busy.current = true;
    const { batches, unknown } = await sorted(files);
    const said: Line[] = unknown.map((one) => ({ said: one, wrong: true }));
    setLines(said);
    for (const batch of batches) {
      if (left.current) return;
      const name = batch.files.map((one) => one.name).join(" and ");
      control.current = new AbortController();
      const { signal } = control.current;
      const tell = (share: number) => setSending({ name, share, stop: () => control.current.abort() });
      tell(0);
      try {
        const known = latest.current.catalogue;
        const received = await receive(batch, latest.current.form, known, tell, signal);
        if (left.current) return;
        said.push({ said: await latest.current.take(received, signal), wrong: false });
      } catch (error) {
        said.push({ said: `${name}: ${signal.aborted ? "The upload was stopped." : asProblem(error).message}`, wrong: true });
      }
      setLines([...said]);
    }
    setSending(null);
    busy.current = false;
  }

  function clear() {
    early.current = [];
    setLines([]);
  }

  const isReady = catalogue !== null;
  useEffect(() => { if (isReady) void open(early.current.splice(0)); }, [isReady]);

  useEffect(() => () => {
    left.current = true;
    control.current.abort();
  }, []);

  // With the view itself, not a moment later: a file dropped in between would be opened by the browser.
  useLayoutEffect(() => {
    const ofFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const drag = (event: DragEvent) => {
      if (!ofFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => { if (!event.relatedTarget) setOver(false); };
    const drop = (event: DragEvent) => {
      if (!ofFiles(event)) return;
      event.preventDefault();
      setOver(false);
      void open([...(event.dataTransfer?.files ?? [])]);
    };
    document.addEventListener("dragover", drag);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", drag);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, []);

  return { lines, sending, over, open, clear };
}

/** The button that opens files. */
export function OpenFiles({ open }: { open: (files: readonly File[]) => Promise<void> }) {
  return (
    <label class="button">Open files<input type="file" multiple class="visually-hidden"
      onChange={(event) => { void open([...(event.currentTarget.files ?? [])]); event.currentTarget.value = ""; }} /></label>
  );
}

/** What can be dropped, what is on its way, and what came of it. */
export function FilesShown({ files, catalogue }: { files: ReturnType<typeof useFiles>; catalogue: Catalogue | null }) {
  const { lines, sending, over, clear } = files;
  const limits = catalogue?.limits;
  return (
    <>
      <details class="more"><summary>Files can be dropped anywhere on this page</summary>
        <p class="quiet small-text">Their content tells what they are: {WELCOME}.
          {limits && ` A program may have up to ${bytes(limits.program)}, the files of a machine ${bytes(limits.machine)} (XML ${bytes(limits.xml)}), a job file ${bytes(limits.job_file)}.`}</p>
      </details>
      <div role="status">
        {sending && (
          <p class="actions"><label>Sending {sending.name} <progress value={sending.share} max={1} /></label>
            <button type="button" class="small" onClick={sending.stop}>Stop</button></p>
        )}
        {lines.length > 0 && (
          <div class={lines.some((one) => one.wrong) ? "notice bad" : "notice"}>
            {lines.map((one, i) => <p key={i} class={one.wrong ? "problem" : ""}>{one.said}</p>)}
            <p class="actions"><button type="button" class="small" onClick={clear}>Close</button></p>
          </div>
        )}
      </div>
      {over && <div class="drop-here" aria-hidden="true"><p>Drop the files here</p></div>}
    </>
  );
}
