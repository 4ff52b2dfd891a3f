// How far in a new line begins: by the line above it alone, also where the YAML is broken.
import { indentService } from "@codemirror/language";
import { indentBelow } from "../lib/indent.ts";

/** Only where a line is broken: what is typed in a line never moves it. */
export const indent = indentService.of(({ state, simulatedBreak }, position) => {
  if (simulatedBreak !== position) return null;
  const { from, text } = state.doc.lineAt(position);
  const before = text.slice(0, position - from);
  return before.trim() ? indentBelow(before) : /^ */.exec(text)?.[0].length ?? 0;
});
