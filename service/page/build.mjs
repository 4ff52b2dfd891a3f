// Builds the page into dist/: a script, parts of it that are loaded when they are looked at, one
// style sheet, and the document that names them and holds a script that asks for data at once.
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");

const common = {
  absWorkingDir: here,
  outdir: dist,
  bundle: true,
  minify: true,
  write: false,
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
};
const result = await build({
  ...common,
  entryPoints: { app: "src/main.tsx", style: "src/style.css" },
  entryNames: "[name]-[hash]",
  chunkNames: "part-[hash]",
  splitting: true,
  metafile: true,
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
});
const early = await build({ ...common, entryPoints: ["src/early.ts"], format: "iife" });

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });

const names = {};
async function put(name, content) {
  names[name.replace(/-[0-9A-Z]{8}\./, ".")] = name;
  await writeFile(join(dist, name), content);
  await writeFile(join(dist, `${name}.gz`), gzipSync(content, { level: 9 }));
}

for (const file of result.outputFiles) await put(basename(file.path), file.contents);
const icon = await readFile(join(here, "src/icon.svg"));
await put(`icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8).toUpperCase()}.svg`, icon);

let document = await readFile(join(here, "src/index.html"), "utf8");
for (const plain of ["app.js", "style.css", "icon.svg"]) {
  document = document.replaceAll(`/assets/${plain}`, `/assets/${names[plain]}`);
}
// What the script needs at once is fetched beside it, not after it.
const [app] = Object.entries(result.metafile.outputs).filter(([path]) => basename(path) === names["app.js"]).map(([, output]) => output);
const needed = app.imports.filter((one) => one.kind === "import-statement").map((one) => basename(one.path));
const links = needed.map((name) => `    <link rel="modulepreload" href="/assets/${name}" />\n`).join("");
document = document.replace(/^ {4}<script type/m, () => `${links}    <script type`);
// A script in the document: `site.py` allows it by its digest.
document = document.replace("<script></script>", () => `<script>${early.outputFiles[0].text.trim()}</script>`);
await writeFile(join(dist, "index.html"), document);
