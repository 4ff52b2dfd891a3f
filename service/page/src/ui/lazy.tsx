// Parts of the page that are loaded when they are first looked at, all of them at once.
import type { ComponentChild, FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Empty, Loading } from "./parts.tsx";

type Later = typeof import("../later.ts");

let known: Later | null = null;

/** A component of `later.ts`, by its name. */
export function lazy<N extends keyof Later>(name: N, what: string): Later[N] {
  type Props = Parameters<Later[N]>[0];
  return function Lazy(props: Props): ComponentChild {
    const [later, setLater] = useState(known);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (later) return;
      import("../later.ts").then((found) => { known = found; setLater(found); }, () => setFailed(true));
    }, []);
    if (failed) {
      return (
        <Empty title="This part of the page could not be loaded.">
          <p>The service may be away, or newer than the page. <button type="button" onClick={() => location.reload()}>Load the page again</button></p>
        </Empty>
      );
    }
    if (!later) return <Loading what={what} />;
    const Part = later[name] as FunctionComponent<object>;
    return <Part {...props} />;
  } as Later[N];
}
