export const TABS = [
  ["convergence", "Convergence"],
  ["best", "Best configuration"],
  ["space", "Parameters"],
  ["workers", "Workers"],
  ["about", "Job file"],
] as const;

export type Tab = (typeof TABS)[number][0];

export function tabOf(name: string | undefined): Tab {
  return TABS.find(([key]) => key === name)?.[0] ?? "convergence";
}
