// The job itself: its file, its space, what was left out of it and why.
import { moment, plural } from "../lib/format.ts";
import { href } from "../lib/router.ts";
import type { Job } from "../lib/types.ts";
import { yaml } from "../lib/yaml.ts";
import { Copy, Section } from "../ui/parts.tsx";
import { ApplicationPart } from "./application.tsx";

export function About({ job }: { job: Job }) {
  const text = yaml(job.spec);
  const { space } = job;
  return (
    <>
      <Section title="Search space">
        {!space ? <p class="quiet">Not known yet: the job has not been prepared.</p> : (
          <>
            <p>At most {plural(space.size, "configuration")} that {space.size === 1 ? "differs" : "differ"}: some may turn out to be the same run.</p>
            <div class="scroll" tabIndex={0} role="region" aria-label="Parameters"><table>
              <thead><tr><th scope="col">Parameter</th><th scope="col">Values</th></tr></thead>
              <tbody>{space.parameters.map((parameter) => (
                <tr key={parameter.name}><th scope="row">{parameter.name}</th><td>{domain(parameter)}</td></tr>
              ))}</tbody>
            </table></div>
            {(space.learned_from?.length ?? 0) > 0 && <><h3>Learned from</h3><ul>{space.learned_from?.map((one) => (
              <li key={one.job}><a href={href(["jobs", one.job])}>{one.name}</a>, {plural(one.trials, "trial")}{one.weight === undefined ? "" : `, weight ${one.weight.toFixed(2)}`}</li>
            ))}</ul></>}
            {(space.excluded?.length ?? 0) > 0 && <><h3>Left out</h3><ul>{space.excluded?.map((one) => (
              <li key={`${one.parameter} ${String(one.value)}`}><b>{one.parameter}{one.value === null ? "" : ` = ${String(one.value)}`}</b>: {one.reason}</li>
            ))}</ul></>}
            {(space.constraints?.length ?? 0) > 0 && <details class="more"><summary>{space.constraints?.length} combinations cannot be run</summary><ul>{space.constraints?.map((text) => <li key={text}>{text}</li>)}</ul></details>}
          </>
        )}
      </Section>
      {job.application_id && <ApplicationPart id={job.application_id} />}
      <Section title="Job file" aside={<Copy text={text} />}>
        <pre class="log" tabIndex={0} aria-label="Job file">{text}</pre>
      </Section>
      <Section title="Identity">
        <dl class="pairs">
          <dt>Id</dt><dd><code>{job.id}</code></dd>
          <dt>Seed</dt><dd>{job.seed}</dd>
          <dt>Created</dt><dd>{moment(job.created_at)}</dd>
          <dt>Started</dt><dd>{moment(job.started_at)}</dd>
          <dt>Finished</dt><dd>{moment(job.finished_at)}</dd>
        </dl>
      </Section>
    </>
  );
}

function domain(parameter: { [detail: string]: unknown }): string {
  const values = parameter["values"];
  if (Array.isArray(values)) return values.map(String).join(", ");
  if ("low" in parameter && "high" in parameter) return `${String(parameter["low"])} to ${String(parameter["high"])}`;
  return Object.entries(parameter).filter(([name]) => !["name", "when", "kind"].includes(name)).map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(", ");
}
