// The editor in the page's colours: their names (`style.css`) hold inside it, in light and dark.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const MONO = "ui-monospace, \"DejaVu Sans Mono\", monospace";
const RAISED = { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "6px", boxShadow: "0 4px 14px rgb(0 0 0 / 18%)" };
const HIDDEN = { position: "absolute", width: "1px", height: "1px", overflow: "hidden", clipPath: "inset(50%)", whiteSpace: "nowrap" };

const looks = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--panel)", border: "1px solid var(--line)", borderRadius: "6px", fontSize: ".88em" },
  "&.refused": { borderColor: "var(--bad)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: MONO, lineHeight: "1.5", maxHeight: "75vh" },
  ".cm-content, .cm-gutter": { minHeight: "26rem" },
  ".cm-content": { caretColor: "var(--ink)", padding: ".35rem 0" },
  ".cm-gutters": { backgroundColor: "var(--panel-2)", color: "var(--ink-2)", border: "none", borderRadius: "5px 0 0 5px" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--panel-2) 55%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)" },
  ".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-ground)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--warn-fill) 25%, transparent)" },
  ".cm-searchMatch-selected": { backgroundColor: "color-mix(in srgb, var(--accent) 14%, transparent)", outline: "2px solid var(--accent)" },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 14%, transparent)" },

  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textDecorationSkipInk: "none", textUnderlineOffset: ".2em" },
  ".cm-lintPoint-error:after": { borderBottomColor: "var(--bad)" },
  ".cm-gutter-lint": { width: "1.1em" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0 .15em" },
  ".cm-lint-marker-error": { content: "normal", width: ".6em", height: ".6em", marginTop: ".45em", borderRadius: "50%", backgroundColor: "var(--bad)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },

  ".cm-tooltip": { ...RAISED, maxWidth: "min(30rem, 90vw)", boxSizing: "border-box", overflowWrap: "anywhere", zIndex: "15" },
  ".cm-tooltip.pointed": { padding: ".3rem .6rem", borderLeft: "5px solid var(--bad)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: MONO, maxHeight: "14rem", maxWidth: "min(30rem, 90vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: ".15rem .5rem" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": { fontStyle: "normal", fontFamily: "system-ui, sans-serif", fontSize: ".9em" },
  ".cm-tooltip.cm-completionInfo": { ...RAISED, padding: ".4rem .6rem", width: "max-content" },
  ".about": { fontFamily: "system-ui, sans-serif", overflowWrap: "anywhere" },
  ".cm-tooltip-hover .about": { padding: ".4rem .6rem" },
  ".about p": { margin: ".2rem 0" },
  ".about .quiet": { color: "var(--ink-2)" },
  ".about code": { fontFamily: MONO },

  ".cm-panels": { backgroundColor: "var(--panel-2)", color: "var(--ink)", borderRadius: "0 0 5px 5px" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)", borderRadius: "5px 5px 0 0" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: ".4rem 1.8rem .4rem .5rem" },
  // As large as a finger needs them.
  ".cm-panel.cm-search :is(button, input, label)": { fontSize: "inherit", minHeight: "26px", verticalAlign: "middle" },
  ".cm-panel.cm-search input[type=checkbox]": { width: "24px", height: "24px", margin: "0 .2rem 0 .4rem" },
  ".cm-textfield": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "6px", padding: ".2rem .4rem" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "6px", cursor: "pointer" },
  ".cm-button:active": { backgroundImage: "none" },
  ".cm-panel.cm-search [name=close]": { color: "var(--ink)", fontSize: "1.2em", minWidth: "26px", cursor: "pointer" },
  ".cm-panel :focus-visible": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".help": { margin: "0", padding: ".25rem .5rem", color: "var(--ink-2)", fontSize: ".95em" },
  ".said": HIDDEN,
});

const colours = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: tags.lineComment, color: "var(--ink-2)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.labelName, tags.meta, tags.keyword], color: "var(--warn)" },
  { tag: [tags.separator, tags.squareBracket, tags.brace, tags.punctuation], color: "var(--ink-2)" },
]);

export const theme = [looks, syntaxHighlighting(colours)];
