// What the form is for: a row of cards above it, and what the choice leaves out.
import { Words } from "./field.tsx";
import { LABELS } from "./labels.ts";
import { PURPOSES, type typedInVain } from "./purposes.ts";
import type { Optional, Purpose } from "./applies.ts";

export function Purposes({ value, change }: { value: Purpose; change: (purpose: Purpose) => void }) {
  return (
    <fieldset class="purposes">
      <legend>What is this job for?</legend>
      {PURPOSES.map(([name, title, words]) => (
        <label key={name} class={name === value ? "chosen" : ""}>
          <input type="radio" name="purpose" value={name} checked={name === value} onChange={() => change(name)} aria-describedby={`purpose-${name}`} />
          <span><b>{title}</b></span>
          <span class="sub" id={`purpose-${name}`}>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** What was typed and is kept, although a purpose would have set it, or is not in the job file. */
export function Typed({ kept, vain }: { kept: readonly (keyof typeof LABELS)[]; vain: ReturnType<typeof typedInVain> }) {
  const list = (names: readonly (Optional | keyof typeof LABELS)[]) => names.map((name) => LABELS[name]).join(", ");
  const lines = [
    kept.length ? `Kept as you chose: ${list(kept)}.` : "",
    vain.purpose.length ? `Not in the job file, since this purpose does without: ${list(vain.purpose)}. What you chose there is kept for other purposes.` : "",
    vain.choices.length ? `Not in the job file, since other choices rule it out: ${list(vain.choices)}.` : "",
  ].filter((line) => line);
  return (
    <div role="status">
      {lines.length > 0 && <div class="notice">{lines.map((line) => <p key={line}><Words text={line} /></p>)}</div>}
    </div>
  );
}
