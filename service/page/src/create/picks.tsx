// Some of many: boxes with names, each with what it stands for.
import type { FieldProblem } from "../lib/api.ts";
import type { Named } from "../lib/types.ts";
import { Words } from "./field.tsx";

export function Picks({ label, hint, names, chosen, errors, change, otherwise = "default" }: {
  label: string; hint: string; otherwise?: string; names: readonly Named[]; chosen: string[]; errors: FieldProblem[]; change: (chosen: string[]) => void;
}) {
  const group = `picks-${label.replace(/\W+/g, "-").toLowerCase()}`;
  return (
    <fieldset class="picks" aria-describedby={`${group}-hint`}>
      <legend>{label} ({chosen.length || otherwise})</legend>
      <p class="sub" id={`${group}-hint`}>{hint}</p>
      <div class="picks-list">
        {names.map((one) => (
          <div key={one.name}>
            <label>
              <input type="checkbox" checked={chosen.includes(one.name)} aria-describedby={`${group}-${one.name}`} onChange={(event) =>
                change((event.currentTarget as HTMLInputElement).checked ? [...chosen, one.name] : chosen.filter((name) => name !== one.name))} />
              {one.name}
            </label>
            <span class="sub" id={`${group}-${one.name}`}><Words text={one.description} /></span>
          </div>
        ))}
      </div>
      {errors.map((one) => <p key={one.message} class="problem">{one.message}</p>)}
    </fieldset>
  );
}
