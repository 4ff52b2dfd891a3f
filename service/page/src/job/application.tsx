// What is simulated: how it was captured, what its program printed and left, and how far its trace can be relied on.
import { useEffect, useRef, useState } from "preact/hooks";
import { download, request } from "../lib/api.ts";
import { bytes, count, duration, plural } from "../lib/format.ts";
import { useInterval, useResource } from "../lib/hooks.ts";
import type { Application, CaptureProgress, OutputFiles } from "../lib/types.ts";
import { Action, Failure, Section } from "../ui/parts.tsx";

const LOOK_AGAIN = 1000; // ms, while a program is built or runs

export function ApplicationPart({ id }: { id: string }) {
  const { data, error, reload } = useResource<Application>(`/applications/${id}`);
  const busy = data?.state === "new" || data?.state === "capturing";
  useInterval(reload, busy ? LOOK_AGAIN : null);
  if (error) return <Section title="Application"><Failure problem={error} /></Section>;
  if (!data) return null;
  const calls = Object.values(data.summary.calls ?? {}).reduce((sum, one) => sum + one, 0);
  return (
    <>
      <Section title="Application">
        <p>{data.name} on {plural(data.ranks, "rank")}{calls > 0 && `, ${plural(calls, "call")}`}.</p>
        {busy && <p role="status">{progress(data.capture_progress)}</p>}
        {data.notes.length > 0 && <ul>{data.notes.map((note) => <li key={note}>{note}</li>)}</ul>}
      </Section>
      {data.kind === "source" && <>
        <Log application={data} log="build" title="What the build printed" busy={busy} />
        <Log application={data} log="run" title="What the program printed" busy={busy} />
        {data.state === "ready" && <Files id={id} />}
      </>}
    </>
  );
}

function progress(capture: CaptureProgress | null): string {
  if (!capture) return "Its program is being built or started.";
  return `Run ${capture.run} of ${capture.runs}: ${plural(capture.operations, "call")} so far, ${count(capture.ranks_ended)} of ${plural(capture.ranks, "rank")} ended, ${duration(capture.simulated_seconds)} simulated.`;
}

/** A log, which grows while it is written. */
function Log({ application, log, title, busy }: { application: Application; log: string; title: string; busy: boolean }) {
  const [text, setText] = useState("");
  const box = useRef<HTMLPreElement>(null);
  const path = `/applications/${application.id}/logs/${log}`;
  const read = (known: string) => {
    // The service counts characters, and strings here hold some as two.
    request(`${path}?offset=${[...known].length}`).then(
      async (response) => setText(known + (await response.text())),
      () => undefined, // there is none yet, or the service is away: what is known stays
    );
  };
  useInterval(() => read(text), busy ? LOOK_AGAIN : null);
  // Whole once it is complete: of a long one the middle is left out then.
  useEffect(() => read(""), [path, busy]);
  useEffect(() => { if (busy && box.current) box.current.scrollTop = box.current.scrollHeight; }, [text, busy]);
  if (text === "") return null;
  return <Section title={title}><pre class="log" ref={box} tabIndex={0} aria-label={title}>{text}</pre></Section>;
}

function Files({ id }: { id: string }) {
  const { data, error } = useResource<OutputFiles>(`/applications/${id}/files`);
  if (error) return error.status === 404 ? null : <Section title="Files"><Failure problem={error} /></Section>;
  if (!data || data.files.length + data.left_out.length === 0) return null;
  return (
    <Section title="Files that the program left">
      <div class="scroll" tabIndex={0} role="region" aria-label="Files"><table>
        <thead><tr><th scope="col">File</th><th scope="col">Size</th><th scope="col">Download</th></tr></thead>
        <tbody>{data.files.map((file) => (
          <tr key={file.path}><th scope="row">{file.path}</th><td>{bytes(file.bytes)}</td>
            <td><Action label={`Download ${file.path}`} kind="small" work={() => download(`/applications/${id}/files/${file.path.split("/").map(encodeURIComponent).join("/")}`, file.path.split("/").at(-1) ?? file.path)} /></td></tr>
        ))}</tbody>
      </table></div>
      {data.left_out.length > 0 && <p class="quiet">Not kept, because there were too many or they were too large: {data.left_out.map((file) => `${file.path} (${bytes(file.bytes)})`).join(", ")}.</p>}
    </Section>
  );
}
