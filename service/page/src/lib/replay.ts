// How to have a trial again with the command line: files and the command that takes them.
import type { Configuration, Job, Json, Trial } from "./types.ts";

/** `command` is null where the application is known to the service alone. */
export interface Replay { command: string | null; files: { name: string; text: string }[] }

export function replayOf(job: Pick<Job, "spec" | "name">, trial: Pick<Trial, "number" | "kind" | "configuration">): Replay {
  const configuration = { name: `trial-${trial.number}-configuration.json`, text: text(trial.configuration) };
  const machine = { name: "machine.json", text: text(job.spec["machine"] ?? {}) };
  const application = { name: "application.json", text: text(job.spec["application"] ?? {}) };
  const stored = "id" in ((job.spec["application"] ?? {}) as object);
  const files = stored ? [configuration, machine] : [configuration, machine, application];
  const network = trial.kind === "comparison" ? " --network fluid" : "";
  const command = stored ? null : `hamtune evaluate --application ${application.name} --machine ${machine.name} --configuration ${configuration.name}${network}`;
  return { command, files };
}

function text(value: Json | Configuration): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Parameters by dotted names, as the search space calls them. */
export function flatten(configuration: Configuration, prefix = ""): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const [name, value] of Object.entries(configuration)) {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      flatten(value, `${prefix}${name}.`).forEach((inner, key) => found.set(key, inner));
    } else {
      found.set(prefix + name, value);
    }
  }
  return found;
}
