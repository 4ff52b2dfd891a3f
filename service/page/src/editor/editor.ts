// The editor of job files as YAML. It lives in a shadow tree: there its styles are adopted style
// sheets, which the page's policy allows, and not <style> elements, which it forbids.
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { yamlLanguage } from "@codemirror/lang-yaml";
import { bracketMatching } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, ViewPlugin } from "@codemirror/view";
import type { FieldProblem } from "../lib/api.ts";
import type { Schema } from "../lib/schema.ts";
import { help, know } from "./help.ts";
import { indent } from "./indent.ts";
import { problems, reveal, sorted, tell, type Refusal } from "./problems.ts";
import { theme } from "./theme.ts";

/** Leads to the place of a problem; it also knows in which order the places of several follow each other. */
export interface Reveal {
  (where: { field?: string; message: string }): void;
  sorted(fields: readonly FieldProblem[]): FieldProblem[];
}

export interface JobEditor {
  /** Takes a text that was not typed here; one that was changes nothing. */
  set(text: string): void;
  know(schema: Schema): void;
  tell(refusal: Refusal | null): void;
  reveal: Reveal;
  focus(from: number, to: number): void;
  destroy(): void;
}

/** After Escape the next Tab leaves the editor, however long that takes; typing goes on as before. */
const leaving = ViewPlugin.define(() => ({ asked: false }), {
  eventHandlers: {
    keydown(event, view) {
      if (event.key !== "Escape") return false;
      this.asked = true;
      view.setTabFocusMode(true);
      return false;
    },
    blur(_, view) {
      if (this.asked) view.setTabFocusMode(false);
      this.asked = false;
    },
  },
  provide: (plugin) => EditorView.updateListener.of(({ docChanged, view }) => {
    const state = view.plugin(plugin);
    if (!docChanged || !state?.asked) return;
    state.asked = false;
    view.setTabFocusMode(false);
  }),
});

/** What is selected in the browser, which may know of a new selection before the editor does. */
function selected(view: EditorView): { from: number; to: number } {
  const { root, contentDOM } = view;
  const selection = "getSelection" in root ? (root as Document).getSelection() : document.getSelection();
  const { anchorNode = null, focusNode = null } = selection ?? {};
  if (!selection || !anchorNode || !focusNode || !contentDOM.contains(anchorNode) || !contentDOM.contains(focusNode)) return view.state.selection.main;
  const ends = [view.posAtDOM(anchorNode, selection.anchorOffset), view.posAtDOM(focusNode, selection.focusOffset)];
  return { from: Math.min(...ends), to: Math.max(...ends) };
}

/**
 * Over a selection browsers write what is typed in an element that keeps its style, which the page's
 * policy forbids: there it is put into the text without them.
 */
const replacing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || event.data === null || event.isComposing) return false;
    const { from, to } = selected(view);
    if (from === to) return false;
    event.preventDefault();
    const insert = view.state.toText(event.data);
    view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

/** Files are the page's affair, wherever they are dropped: their text is not put into the job file. */
const dropping = EditorView.domEventHandlers({
  drop: (event) => event.dataTransfer?.types.includes("Files") ?? false,
});

function extensions(change: (text: string) => void): Extension {
  return [
    help,
    problems,
    leaving,
    replacing,
    dropping,
    lineNumbers(),
    history(),
    indent,
    bracketMatching(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    yamlLanguage,
    EditorState.tabSize.of(2),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": "Job file as YAML", tabindex: "0" }),
    EditorView.updateListener.of((update) => { if (update.docChanged) change(update.state.doc.toString()); }),
    keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap, ...searchKeymap]),
    theme,
  ];
}

/** Puts an editor into an element; `change` is told of every change of its text but those by `set`. */
export function edit(host: HTMLElement, text: string, change: (text: string) => void): JobEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  let told = true;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ doc: text, extensions: extensions((now) => { if (told) change(now); }) }),
  });
  return {
    set(next) {
      const lines = next.replaceAll(/\r\n?/g, "\n");
      if (lines === view.state.doc.toString()) return;
      told = false;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: lines }, annotations: isolateHistory.of("full") });
      told = true;
    },
    know: (schema) => view.dispatch({ effects: know.of(schema) }),
    tell: (refusal) => tell(view, refusal),
    reveal: Object.assign((where: { field?: string; message: string }) => reveal(view, where), {
      sorted: (fields: readonly FieldProblem[]) => sorted(view, fields),
    }),
    focus(from, to) {
      const within = (position: number) => Math.min(position, view.state.doc.length);
      view.dispatch({ selection: { anchor: within(from), head: within(to) } });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
