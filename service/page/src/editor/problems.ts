// What the service refused, underlined where it is and told to screen readers.
import { forEachDiagnostic, lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap, showPanel, showTooltip, type Panel, type Tooltip } from "@codemirror/view";
import { parser } from "@lezer/yaml";
import type { FieldProblem } from "../lib/api.ts";
import { inOrder, marks, placeIn, spanOf } from "../lib/marks.ts";
import { outline } from "../lib/outline.ts";

export interface Refusal { message: string; fields: FieldProblem[] }

const HELP = "Ctrl+Space shows what can be written here: the arrow keys choose from the list, Enter or Tab takes what is chosen. Ctrl+F searches, F8 goes to the next problem. Tab indents; to leave with the keyboard, press Escape, then Tab.";

const refuse = StateEffect.define<Refusal | null>();
const refused = StateField.define<Refusal | null>({
  create: () => null,
  update: (old, transaction) => transaction.effects.reduce((last, one) => (one.is(refuse) ? one.value : last), old),
  provide: (field) => [
    EditorView.contentAttributes.from(field, (refusal) => ({ "aria-invalid": String(refusal !== null) })),
    EditorView.editorAttributes.from(field, (refusal) => ({ class: refusal ? "refused" : "" })),
  ],
});

/** Names what describes the text: ids are those of the editor's own tree, where those of the page are unknown. */
function described(view: EditorView): Panel {
  const dom = document.createElement("div");
  const help = document.createElement("p");
  Object.assign(help, { id: "help", className: "help", textContent: HELP });
  const said = document.createElement("p");
  Object.assign(said, { id: "said", className: "said" });
  const write = () => {
    const refusal = view.state.field(refused);
    const lines = refusal ? refusal.fields.map(({ field, message }) => `${field}: ${message}`) : [];
    said.textContent = (lines.length ? lines : [refusal?.message ?? ""]).join("; ");
  };
  write();
  dom.append(help, said);
  return { dom, update: write };
}

const point = StateEffect.define<Diagnostic>();
/** What is said of the problem that the keyboard has gone to, until it leaves that or the text changes. */
const pointed = StateField.define<Tooltip | null>({
  create: () => null,
  update(old, transaction) {
    for (const one of transaction.effects) if (one.is(point)) return below(one.value);
    const { docChanged, newSelection: { main }, effects } = transaction;
    const gone = docChanged || effects.some((one) => one.is(refuse));
    return gone || !old || main.from !== old.pos || main.to !== old.end ? null : old;
  },
  provide: (field) => showTooltip.from(field),
});

/** Below the last row of its line, however many a narrow window makes of it: the line stays in sight. */
function below({ from, to, message }: Diagnostic): Tooltip {
  return {
    pos: from, end: to,
    create(view) {
      const dom = document.createElement("div");
      dom.className = "pointed";
      dom.textContent = message;
      const getCoords = (position: number) => {
        const { left, right } = view.coordsAtPos(position, 1) ?? view.contentDOM.getBoundingClientRect();
        const { top, bottom } = view.lineBlockAt(position);
        return { left, right, top: view.documentTop + top, bottom: view.documentTop + bottom };
      };
      return { dom, getCoords };
    },
  };
}

/** The first problem behind the selection, and after the last one the first of all. */
function following(state: EditorState): Diagnostic | undefined {
  const found: Diagnostic[] = [];
  forEachDiagnostic(state, (one, from, to) => found.push({ ...one, from, to }));
  const { main } = state.selection;
  return found.find(({ from, to }) => from > main.from || (from === main.from && to > main.to)) ?? found[0];
}

function next(view: EditorView): boolean {
  const found = following(view.state);
  if (!found) return false;
  const { from, to } = found;
  view.dispatch({ selection: { anchor: from, head: to }, effects: [point.of(found), EditorView.scrollIntoView(from, { y: "center" })] });
  return true;
}

export const problems: Extension = [
  refused,
  pointed,
  EditorView.contentAttributes.of({ "aria-describedby": "said help" }),
  showPanel.of(described),
  lintGutter(),
  keymap.of([{ key: "F8", run: next }]),
];

/** Shows what is wrong with the text, or that nothing is. */
export function tell(view: EditorView, refusal: Refusal | null): void {
  const text = view.state.doc.toString();
  const told = refusal && { message: refusal.message, fields: sorted(view, refusal.fields) };
  const found = told ? marks(text, outline(parser.parse(text), text), told) : [];
  view.dispatch({ effects: refuse.of(told) });
  view.dispatch(setDiagnostics(view.state, found.map((one) => ({ ...one, severity: "error" }))));
}

/** The problems of fields in the order of their lines. */
export function sorted<Told extends FieldProblem>(view: EditorView, fields: readonly Told[]): Told[] {
  const text = view.state.doc.toString();
  return inOrder(text, outline(parser.parse(text), text), fields);
}

/** Goes to a field, or to the place that a message names. */
export function reveal(view: EditorView, { field, message }: { field?: string; message: string }): void {
  const text = view.state.doc.toString();
  const place = field === undefined ? placeIn(text, message) : spanOf(text, outline(parser.parse(text), text), { field, message });
  view.focus();
  if (place) view.dispatch({ selection: { anchor: place.from }, effects: EditorView.scrollIntoView(place.from, { y: "center" }) });
}
