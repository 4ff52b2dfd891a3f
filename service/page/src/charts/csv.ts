// What a chart shows, as a table.

export type Cell = string | number | boolean | null | undefined;

/** Lines of cells, as RFC 4180 has them. */
export function csvOf(lines: Cell[][]): string {
  return lines.map((line) => `${line.map(quoted).join()}\r\n`).join("");
}

function quoted(cell: Cell): string {
  const text = cell === null || cell === undefined ? "" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
