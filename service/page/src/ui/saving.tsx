// The buttons that save a chart: as vectors, as pixels, and what it shows as a table.
import { csvOf, type Cell } from "../charts/csv.ts";
import { pngOf, svgOf, type Figure } from "../charts/figure.ts";
import { save } from "../lib/api.ts";
import { Action } from "./parts.tsx";

export function Saving({ name, figure, table }: {
  /** Of the files, without what tells their kind; what file systems may not like is left out. */
  name: string;
  figure?: () => Figure;
  table?: () => Cell[][];
}) {
  const file = name.replace(/[^\w.-]+/g, "-");
  return (
    <span class="saving" role="group" aria-label={`Save ${name}`}>
      {figure && <Action label="Save SVG" kind="small" work={async () => save(svgOf(figure), `${file}.svg`)} />}
      {figure && <Action label="Save PNG" kind="small" work={async () => save(await pngOf(figure), `${file}.png`)} />}
      {table && <Action label="Save CSV" kind="small" work={async () => save(new Blob([csvOf(table())], { type: "text/csv" }), `${file}.csv`)} />}
    </span>
  );
}
