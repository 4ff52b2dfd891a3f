import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { JobsPage } from "./jobs/list.tsx";
import { JobPage } from "./job/page.tsx";
import { forgetEarly } from "./lib/api.ts";
import { whenIdle } from "./lib/idle.ts";
import { href, useRoute } from "./lib/router.ts";
import { lazy } from "./ui/lazy.tsx";
import { Empty } from "./ui/parts.tsx";
import { Shell } from "./ui/shell.tsx";

const ComparePage = lazy("ComparePage", "the comparison");
const CreatePage = lazy("CreatePage", "the form");

function App() {
  const route = useRoute();
  const [first = "jobs", second] = route.parts;
  // Another key may see other things: everything is asked for anew.
  const [identity, setIdentity] = useState(0);
  useEffect(() => {
    document.title = first === "jobs" && second ? "Job · Hamtune" : "Hamtune";
    window.scrollTo(0, 0);
  }, [first, second]);
  return (
    <Shell route={route} onKey={() => setIdentity((n) => n + 1)}>
      <div key={identity}>
        {first === "jobs" && second ? <JobPage key={second} id={second} route={route} />
          : first === "jobs" ? <JobsPage route={route} />
          : first === "compare" ? <ComparePage route={route} />
          : first === "new" ? <CreatePage key={route.query.get("clone") ?? ""} clone={route.query.get("clone")} />
          : <Empty title="There is no such page."><p><a href={href(["jobs"])}>To the jobs</a></p></Empty>}
      </div>
    </Shell>
  );
}

const root = document.getElementById("app");
if (root) render(<App />, root);
setTimeout(() => {
  forgetEarly();
  // So that the rest opens at once, and also while the service is away.
  whenIdle(() => void import("./later.ts").catch(() => undefined));
}, 1500);
