// Stands in the document itself, before all that it loads: asks for what the page will show first,
// so that the service answers while the browser still reads the script.
import { parse } from "./lib/address.ts";
import { authorisation, PREFIX } from "./lib/key.ts";
import { firstPaths } from "./lib/paths.ts";

const early = new Map(firstPaths(parse(location.hash)).map((path) => {
  const answer = fetch(PREFIX + path, { headers: authorisation() });
  answer.catch(() => undefined); // whoever takes it is told
  return [path, answer] as const;
}));
window.early = early;
