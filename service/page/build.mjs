// Builds the page into dist/: one script, one style sheet, and the document that names them.
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");

const result = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", style: "src/style.css" },
  outdir: dist,
  bundle: true,
  minify: true,
  write: false,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
});

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });

const names = {};
async function put(stem, suffix, content) {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 8).toUpperCase();
  const name = `${stem}-${hash}.${suffix}`;
  names[`${stem}.${suffix}`] = name;
  await writeFile(join(dist, name), content);
  await writeFile(join(dist, `${name}.gz`), gzipSync(content, { level: 9 }));
}

for (const file of result.outputFiles) {
  const suffix = file.path.endsWith(".css") ? "css" : "js";
  await put(file.path.endsWith(`style.${suffix}`) ? "style" : "app", suffix, file.contents);
}
await put("icon", "svg", await readFile(join(here, "src/icon.svg")));

let document = await readFile(join(here, "src/index.html"), "utf8");
for (const [plain, hashed] of Object.entries(names)) {
  document = document.replaceAll(`/assets/${plain}`, `/assets/${hashed}`);
}
await writeFile(join(dist, "index.html"), document);
