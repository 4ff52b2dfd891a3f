// What the service says is wrong with a job file, in a list.
import type { Reveal } from "../editor/editor.ts";
import type { FieldProblem, Problem } from "../lib/api.ts";
import { AnotherKey } from "../ui/parts.tsx";

/** `fields`: those of the problem, in words of the form where it has others. `reveal` leads to the place of a problem, where the job file is shown as text: there they are listed by line. */
export function Problems({ problem, fields, reveal }: { problem: Problem; fields: readonly FieldProblem[]; reveal: Reveal | undefined }) {
  const { away, refused, message } = problem;
  return (
    <div class={away ? "notice warn" : "notice bad"}>
      {away ? <p>{message} What you typed is kept; the page goes on by itself.</p>
        : fields.length ? <ul>{(reveal?.sorted(fields) ?? fields).map((one) => <li key={`${one.field} ${one.message}`}>{reveal ? <button type="button" class="link place" onClick={() => reveal(one)}><b>{one.field}</b>: {one.message}</button> : <><b>{one.field}</b>: {one.message}</>}</li>)}</ul>
        : refused ? <p>{message}. What you typed is kept. <AnotherKey /></p>
        : reveal && /\bline \d/.test(message) ? <p><button type="button" class="link place" onClick={() => reveal({ message })}>{message}</button></p>
        : <p>{message}</p>}
    </div>
  );
}
