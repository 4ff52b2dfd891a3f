// A field of the form: what it is called, what it means, what the service says of it.
import { cloneElement, createContext, type VNode } from "preact";
import { useContext } from "preact/hooks";
import type { FieldProblem } from "../lib/api.ts";
import type { Document } from "./document.ts";
import { explained, preset } from "./explained.ts";

/** The job schema of the service, which says what fields mean; null until it is there. */
export const Schema = createContext<Document | null>(null);

/** What is wrong at some places of a job file, or below them. */
export function errorsAt(errors: FieldProblem[], ...paths: string[]): FieldProblem[] {
  return errors.filter((one) => paths.some((path) => one.field === path || one.field.startsWith(`${path}.`)));
}

/** Text in which backticks stand around what is written as it is. */
export function Words({ text }: { text: string }) {
  return <>{text.split("`").map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</>;
}

/** `meaning`: the place in a job file whose description of the schema is shown, `bare` without an example; `hint`: what is said in its place; `grey`: where nothing is typed, the default of the schema stands there. */
export function Field({ label, errors, hint, meaning, bare = false, grey = false, children }: {
  label: string; errors: FieldProblem[]; hint?: string | undefined; meaning?: string | undefined; bare?: boolean; grey?: boolean; children: VNode<Record<string, unknown>>;
}) {
  const schema = useContext(Schema);
  const id = `field-${label.replace(/\W+/g, "-").toLowerCase()}`;
  const wrong = errors.length > 0;
  const said = hint ?? (meaning ? explained(schema, meaning, !bare) : "");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, { id, "aria-invalid": wrong, "aria-describedby": `${id}-said`, ...(grey && meaning ? { placeholder: preset(schema, meaning) } : {}) })}
      <span id={`${id}-said`}>
        {errors.map((one) => <span key={one.message} class="problem">{one.message}</span>)}
        {said && <span class="sub"><Words text={said} /></span>}
      </span>
    </div>
  );
}
