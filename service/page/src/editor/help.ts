// What the editor says of fields: beside completions, and where the pointer rests on a key.
import { acceptCompletion, autocompletion, completionStatus, currentCompletions, selectedCompletionIndex, setSelectedCompletion, startCompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { Prec, StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap, type Rect } from "@codemirror/view";
import { parser } from "@lezer/yaml";
import { outline, pathTo } from "../lib/outline.ts";
import { aboutAt, type About, type Schema } from "../lib/schema.ts";
import { suggest, written, type Suggestion } from "../lib/suggest.ts";

/** Tells an editor the schema of its documents. */
export const know = StateEffect.define<Schema>();

const known = StateField.define<Schema | null>({
  create: () => null,
  update: (old, transaction) => transaction.effects.reduce<Schema | null>((last, one) => (one.is(know) ? one.value : last), old),
});

function paragraph(className: string, ...parts: (string | HTMLElement)[]): HTMLElement {
  const element = document.createElement("p");
  element.className = className;
  element.append(...parts);
  return element;
}

function code(said: string): HTMLElement {
  const element = document.createElement("code");
  element.textContent = said;
  return element;
}

/** A description: paragraphs as they are parted in the schema, what stands in backticks as code. */
function prose(text: string): HTMLElement[] {
  return text.split(/\n\s*\n/).map((part) => {
    const pieces = part.replaceAll(/\s*\n\s*/g, " ").split("`");
    return paragraph("", ...pieces.map((piece, i) => (i % 2 ? code(piece) : piece)));
  });
}

function drawn({ name, text, default: settled, example }: About, meaning = ""): HTMLElement {
  const box = document.createElement("div");
  box.className = "about";
  if (name) box.append(paragraph("", code(name)));
  if (meaning) box.append(...prose(meaning));
  if (text) box.append(...prose(text));
  if (settled !== undefined) box.append(paragraph("quiet", "Default: ", code(written(settled))));
  if (example !== undefined) box.append(paragraph("quiet", "Example: ", code(written(example))));
  return box;
}

function completed(one: Suggestion): Completion {
  return {
    label: one.label,
    detail: one.detail,
    type: one.kind === "key" ? "property" : "constant",
    boost: (one.below ? 10 : 0) + (one.detail === "required" ? 1 : 0),
    info: () => drawn(one.kind === "key" ? one.about : { ...one.about, name: one.label }, one.kind === "key" ? "" : one.detail),
    apply: (view, _, from, to) => {
      view.dispatch({ changes: { from, to, insert: one.insert }, selection: { anchor: from + one.insert.length }, userEvent: "input.complete", scrollIntoView: true });
      if (one.insert.endsWith(" ")) startCompletion(view); // what its value may be
    },
  };
}

function complete({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const schema = state.field(known);
  const found = schema && suggest(schema, state.doc.toString(), pos);
  if (!found || (!explicit && found.from === pos)) return null;
  const said = new Set(found.options.filter((one) => one.kind === "value").map((one) => one.text));
  return {
    from: found.from, to: found.to, options: found.options.map(completed),
    // What has become one of the values is looked up anew: it is no suggestion any more.
    validFor: (word) => /^[\w./+-]*$/.test(word) && !said.has(word),
  };
}

function keyAt(state: EditorState, position: number): { about: About; from: number; to: number } | null {
  const schema = state.field(known);
  if (!schema) return null;
  const text = state.doc.toString();
  const document = outline(parser.parse(text), text);
  let at = { from: 0, to: 0 };
  const path = pathTo(document, ({ entry }) => {
    if (!entry || position < entry.at.from || position > entry.at.to) return false;
    at = entry.at;
    return true;
  });
  const about = path && aboutAt(schema, document, path);
  return about && { about, ...at };
}

const hover = hoverTooltip((view, position) => {
  const found = keyAt(view.state, position);
  return found && { pos: found.from, end: found.to, above: true, create: () => ({ dom: drawn(found.about) }) };
});

/** The narrowest that a description is worth reading beside the list; else it stands below. */
const NARROWEST = 200;

function beside(_: EditorView, list: Rect, option: Rect, _info: Rect, space: Rect): { style: string } {
  const room = space.right - list.right;
  if (room < NARROWEST) return { style: `left: 0; top: ${list.bottom - list.top}px; max-width: ${Math.round(space.right - list.left)}px` };
  return { style: `left: 100%; top: ${option.top - list.top}px; max-width: ${Math.round(Math.min(room, 2 * NARROWEST))}px` };
}

/** The list can be scrolled, so it has to be one of those that take the focus; keys walk along it from the text. */
const reachable = EditorView.updateListener.of(({ view }) => {
  view.dom.querySelector(".cm-tooltip-autocomplete > ul")?.setAttribute("tabindex", "0");
});

/** Tab takes the first of a list that nobody has moved into; Enter leaves that to be a new line. */
function take(view: EditorView): boolean {
  const { state } = view;
  if (completionStatus(state) !== "active" || !currentCompletions(state).length) return false;
  if (selectedCompletionIndex(state) === null) view.dispatch({ effects: setSelectedCompletion(0) });
  return acceptCompletion(view);
}

export const help: Extension = [
  known,
  reachable,
  hover,
  autocompletion({ override: [complete], icons: false, interactionDelay: 0, selectOnOpen: false, positionInfo: beside }),
  Prec.highest(keymap.of([{ key: "Tab", run: take }])),
];
