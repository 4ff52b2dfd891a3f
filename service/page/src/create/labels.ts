// What the fields are called where the form speaks of them.
import type { Optional } from "./applies.ts";

export const LABELS: Record<Optional | "source" | "machineSource", string> = {
  source: "Application", machineSource: "Machine", degree: "Degree (links per host)", model: "Calibration factors of the fluid model", network: "Network model",
  topology: "Network topologies", instances: "Instances per random network", ordering: "Host orderings", mapping: "Rank mappings",
  mpi: "MPI implementations", collectives: "Collectives to tune", target: "Target MPI library", bySize: "Algorithms of a collective",
  weighed: "Objective", limits: "Limits of the network", parts: "Prices and watts of parts",
  trials: "Trials", wall: "Wall-clock limit", patience: "Patience", until: "Until", seed: "Seed", fidelity: "Trace for the search", priority: "Priority",
  cutoffFactor: "Cutoff factor", cutoff: "Trials that are cut off", completedShare: "Share that runs to its end",
};
