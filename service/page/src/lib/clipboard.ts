// What is copied, also over plain http, where browsers give a page no clipboard of its own.

/** Throws where the browser lets nothing be copied. */
export async function copy(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard) {
    try {
      await clipboard.writeText(text);
      return;
    } catch {
      // Not allowed: the older way may be.
    }
  }
  if (!copySelected(text)) throw new Error("This browser does not let the page copy; select the text and copy it.");
}

/** The older way: the browser copies what is selected, as if somebody had pressed the keys. */
function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true; // no keyboard comes up on a phone
  area.style.position = "fixed"; // nothing scrolls to it
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
