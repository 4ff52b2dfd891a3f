// What is not needed for the first look at jobs, in a file of its own: see `ui/lazy.tsx`.
export { BestTab } from "./best/page.tsx";
export { CreatePage } from "./create/page.tsx";
export { About } from "./job/about.tsx";
export { ApplicationPart } from "./job/application.tsx";
export { SpaceTab } from "./job/space.tsx";
export { TrialPanel } from "./job/trial.tsx";
export { WorkersTab } from "./job/workers.tsx";
export { ComparePage } from "./jobs/compare.tsx";
export { NotificationsPage } from "./notifications/page.tsx";
