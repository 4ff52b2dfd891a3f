// The best configuration as files, for the hosts and the MPI library of whoever installs them.
import { useState } from "preact/hooks";
import { downloadFor, Problem } from "../lib/api.ts";
import { asProblem, useResource } from "../lib/hooks.ts";
import type { Catalogue, Job } from "../lib/types.ts";
import { Action, Section } from "../ui/parts.tsx";

/** The checkbox by which people allow another configuration than the best. */
const NEAREST = "the nearest choice, where it cannot express the best";

/** The service names its own parameter as the remedy; here that is a checkbox. */
function inWordsOfThePage(problem: Problem): Problem {
  const message = problem.message.replace("nearest=true (--nearest)", `the checkbox “${NEAREST}”`);
  return new Problem(problem.status, message, problem.fields);
}

export function Exports({ job }: { job: Job }) {
  const { data } = useResource<Catalogue>("/catalogue");
  const [hosts, setHosts] = useState("");
  const [target, setTarget] = useState("");
  const [nearest, setNearest] = useState(false);
  const [differs, setDiffers] = useState<Record<string, string>>({});
  const library = data?.targets.find((one) => one.name === target);
  const wishes = {
    ...(hosts.trim() ? { hosts } : {}),
    ...(library ? { target, nearest } : {}),
  };
  async function fetchAs(format: string) {
    setDiffers({});
    try {
      const headers = await downloadFor(`/jobs/${job.id}/exports/${format}`, wishes, `${job.id}-${format}.zip`);
      setDiffers({ [format]: headers.get("Hamtune-Differs") ?? "" });
    } catch (error) {
      throw inWordsOfThePage(asProblem(error));
    }
  }
  return (
    <Section title="Export">
      <p class="quiet">Files that install the best configuration, or run it again; each archive says how.</p>
      <div class="form-grid">
        <div class="field">
          <label for="export-hosts">Names of the hosts, in the machine's order: one per line, or lists such as n[01-64]</label>
          <textarea id="export-hosts" rows={2} spellcheck={false} value={hosts} placeholder="placeholders, if left empty" onInput={(event) => setHosts(event.currentTarget.value)} />
        </div>
        <div class="field">
          <label for="export-target">Target MPI library</label>
          <select id="export-target" value={target} onChange={(event) => setTarget(event.currentTarget.value)}>
            <option value="">any: choices without an equivalent are named in the files</option>
            {data?.targets.map((one) => <option key={one.name} value={one.name}>{one.description}</option>)}
          </select>
          {library && <label><input type="checkbox" checked={nearest} onChange={(event) => setNearest(event.currentTarget.checked)} /> {NEAREST}</label>}
        </div>
      </div>
      <div class="exports">
        {data?.exports.map((format) => (
          <div key={format.name} class="export">
            <Action label={format.name} disabled={library !== undefined && library.format !== format.name}
              work={() => fetchAs(format.name)} />
            <span class="quiet">{format.description}</span>
            <span class="differs" role="status">{differs[format.name] && `${differs[format.name]}. Choose a target MPI library and “${NEAREST}” for files that say the nearest it can run.`}</span>
          </div>
        ))}
      </div>
    </Section>
  );
}
