import { render, type ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import { JobsPage } from "./jobs/list.tsx";
import { JobPage } from "./job/page.tsx";
import { forgetEarly } from "./lib/api.ts";
import { whenIdle } from "./lib/idle.ts";
import { href, useRoute, type Route } from "./lib/router.ts";
import { viewOf, type View } from "./lib/views.ts";
import { lazy } from "./ui/lazy.tsx";
import { Empty } from "./ui/parts.tsx";
import { Shell } from "./ui/shell.tsx";

const ComparePage = lazy("ComparePage", "the comparison");
const CreatePage = lazy("CreatePage", "the form");
const NotificationsPage = lazy("NotificationsPage", "the notifications");

type Shown = Exclude<View, `job/${string}`> | "job";

/** What each view shows; the tabs of a job are its page's own. */
const PAGES: Record<Shown, (route: Route) => ComponentChild> = {
  jobs: (route) => <JobsPage route={route} />,
  job: (route) => <JobPage key={route.parts[1] ?? ""} id={route.parts[1] ?? ""} route={route} />,
  compare: (route) => <ComparePage route={route} />,
  new: ({ query }) => <CreatePage key={query.get("clone") ?? ""} clone={query.get("clone")} />,
  notifications: ({ query }) => <NotificationsPage key={query.get("job") ?? ""} job={query.get("job") ?? ""} />,
  nothing: () => <Empty title="There is no such page."><p><a href={href(["jobs"])}>Show all jobs</a></p></Empty>,
};

function App() {
  const route = useRoute();
  const [first = "jobs", second] = route.parts;
  const view = viewOf(route);
  const shown = view.startsWith("job/") ? "job" : view as Shown;
  // Another key may see other things: everything is asked for anew.
  const [identity, setIdentity] = useState(0);
  useEffect(() => {
    document.title = first === "jobs" && second ? "Job · Hamtune" : "Hamtune";
    window.scrollTo(0, 0);
  }, [first, second]);
  return (
    <Shell route={route} onKey={() => setIdentity((n) => n + 1)}>
      <div key={identity}>
        {PAGES[shown](route)}
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
