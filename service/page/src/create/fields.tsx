// The fields of the form, each with what the service says of it.
import { cloneElement, type VNode } from "preact";
import type { FieldProblem } from "../lib/api.ts";
import { useResource } from "../lib/hooks.ts";
import type { Catalogue, Page } from "../lib/types.ts";
import { Section } from "../ui/parts.tsx";
import { PRIORITIES, type Form } from "./form.ts";
import { Upload } from "./upload.tsx";

interface Stored { id: string; name: string; ranks?: number; summary?: { truncated?: boolean } }

interface Props { form: Form; catalogue: Catalogue; errors: FieldProblem[]; change: (part: Partial<Form>) => void }

export function JobForm({ form, catalogue, errors, change }: Props) {
  const applications = useResource<Page<Stored & { kind: string }>>("/applications?limit=100");
  const machines = useResource<Page<Stored>>("/machines?limit=100");
  const program = catalogue.programs.find((one) => one.name === form.builtin);
  const at = (...paths: string[]) => errors.filter((one) => paths.some((path) => one.field === path || one.field.startsWith(`${path}.`)));
  const text = (name: keyof Form, label: string, path: string, hint?: string) => (
    <Field label={label} errors={at(path)} hint={hint}>
      <input value={form[name] as string} autocomplete="off" onInput={(event) => change({ [name]: (event.currentTarget as HTMLInputElement).value })} />
    </Field>
  );
  const select = (name: keyof Form, label: string, path: string, options: [string, string][]) => (
    <Field label={label} errors={at(path)}>
      <select value={form[name] as string} onChange={(event) => change({ [name]: (event.currentTarget as HTMLSelectElement).value })}>
        {options.map(([value, shown]) => <option key={value} value={value}>{shown}</option>)}
      </select>
    </Field>
  );
  const said = (part: string): [string, string][] => (part in form.rest ? [["file", "as the job file says"]] : []);
  const uploaded = applications.data?.items.filter((one) => one.kind !== "builtin") ?? [];
  return (
    <>
      <Section title="Application">
        <div class="form-grid">
          {text("name", "Job name", "name")}
          {select("source", "Application", "application.kind", [["builtin", "a built-in program"], ["stored", "one that was uploaded"], ...said("application")])}
          {form.source === "file" ? null : form.source === "stored"
            ? select("application", "Uploaded", "application", [["", uploaded.length ? "choose …" : "none was uploaded yet"], ...uploaded.map((one): [string, string] => [one.id, `${one.name} (${one.ranks ?? "?"} ranks${one.summary?.truncated ? ", truncated" : ""})`])])
            : (
              <>
                <Field label="Program" errors={at("application.builtin")} hint={program?.description}>
                  <select value={form.builtin} onChange={(event) => {
                    const next = catalogue.programs.find((one) => one.name === (event.currentTarget as HTMLSelectElement).value);
                    change({ builtin: next?.name ?? "", fields: Object.fromEntries((next?.fields ?? []).filter((one) => one.required).map((one) => [one.name, one.choices?.[0] ?? ""])) });
                  }}>{catalogue.programs.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}</select>
                </Field>
                {program?.fields.map((field) => {
                  const set = (value: string) => change({ fields: { ...form.fields, [field.name]: value } });
                  return (
                    <Field key={field.name} label={field.name} errors={at(`application.${field.name}`)}>
                      {field.choices
                        ? <select value={form.fields[field.name] ?? ""} onChange={(event) => set((event.currentTarget as HTMLSelectElement).value)}>{field.choices.map((one) => <option key={one} value={one}>{one}</option>)}</select>
                        : <input value={form.fields[field.name] ?? ""} placeholder={String(field.default ?? "")} autocomplete="off" onInput={(event) => set((event.currentTarget as HTMLInputElement).value)} />}
                    </Field>
                  );
                })}
                {text("ranks", "Ranks", "application.ranks")}
              </>
            )}
        </div>
        {form.source === "stored" && <Upload onDone={({ id }) => { applications.reload(); change({ application: id }); }} />}
      </Section>
      <Section title="Machine">
        <div class="form-grid">
          {select("machineSource", "Machine", "machine.kind", [["described", "described here"], ["stored", "one that is stored"], ...said("machine")])}
          {form.machineSource === "file" ? null : form.machineSource === "stored"
            ? select("machine", "Stored", "machine.id", [["", machines.data?.items.length ? "choose …" : "none is stored yet"], ...(machines.data?.items.map((one): [string, string] => [one.id, one.name]) ?? [])])
            : (
              <>
                {text("nodes", "Hosts", "machine.nodes")}
                {text("degree", "Degree (links per host)", "machine.degree", "of random networks")}
                {text("cores", "Cores per host", "machine.cores_per_host")}
                {text("hostSpeed", "Host speed", "machine.host_speed", "flop/s of a core: 100Gf")}
                {text("bandwidth", "Link bandwidth", "machine.link_bandwidth", "40Gbps, 5GBps")}
                {text("linkLatency", "Link latency", "machine.link_latency", "0s, 100ns")}
                {text("switchLatency", "Switch latency", "machine.switch_latency", "60ns")}
                {select("model", "Calibration factors of the fluid model", "machine.model", [["", "default"], ["smpi-default", "SMPI's calibration"], ["plain", "plain"]])}
                {select("network", "Network model", "machine.network", [["", "default (auto)"], ["auto", "auto: packets, the best also by fluid"], ["packets", "packets"], ["fluid", "fluid"]])}
              </>
            )}
        </div>
      </Section>
      <Section title="Search space">
        <Picks label="Network topologies" names={catalogue.topologies} chosen={form.topology} errors={at("search.topology")} change={(topology) => change({ topology })} />
        <div class="form-grid">{text("instances", "Instances per random network", "search.topology.instances")}</div>
        <Picks label="Host orderings" names={catalogue.orderings} chosen={form.ordering} errors={at("search.ordering")} change={(ordering) => change({ ordering })} />
        <Picks label="Rank mappings" names={catalogue.mappings} chosen={form.mapping} errors={at("search.mapping")} change={(mapping) => change({ mapping })} />
        <div class="form-grid">
          <Field label="Target MPI library" errors={at("search.target")}
            hint={form.target ? "every choice can be exported to it; its own tables are imitated where it is left to choose" : "limits the search to what can be installed"}>
            <select value={form.target} onChange={(event) => {
              const target = (event.currentTarget as HTMLSelectElement).value;
              // What a library means for the rest is the service's to say: all that it has.
              change(target ? { target, mpi: [], collectives: [] } : { target });
            }}>
              <option value="">any</option>
              {catalogue.targets.map((one) => <option key={one.name} value={one.name}>{one.description}</option>)}
              {form.target && !catalogue.targets.some((one) => one.name === form.target) && <option value={form.target}>{form.target}</option>}
            </select>
          </Field>
        </div>
        {(!form.target || form.mpi.length > 0) && <Picks label="MPI implementations" names={catalogue.mpi} chosen={form.mpi} errors={at("search.mpi")} change={(mpi) => change({ mpi })} />}
        <Picks label="Collectives to tune" otherwise={form.target ? "all that the application calls" : "default"}
          names={catalogue.collectives} chosen={form.collectives} errors={at("search.collectives")} change={(collectives) => change({ collectives })} />
      </Section>
      <Section title="Budget">
        <div class="form-grid">
          {text("trials", "Trials", "budget.trials")}
          {text("wall", "Wall-clock limit", "budget.wall_seconds", "10min; empty for no limit")}
          {text("patience", "Patience", "budget.patience", "trials without a new best")}
          {text("until", "Until", "budget.until", "1%: no gain of more than that is likely")}
          {text("seed", "Seed", "seed")}
          {select("fidelity", "Search on", "fidelity", [["", "default: by the size of the trace"], ["full", "the whole trace"], ["auto", "a truncated trace, then verify"]])}
          {select("priority", "Priority", "priority", PRIORITIES.map((one): [string, string] => [one, one]))}
        </div>
        {at("budget").filter((one) => one.field === "budget").map((one) => <p key={one.message} class="problem">{one.message}</p>)}
      </Section>
    </>
  );
}

function Field({ label, errors, hint, children }: {
  label: string; errors: FieldProblem[]; hint?: string | undefined; children: VNode<Record<string, unknown>>;
}) {
  const id = `field-${label.replace(/\W+/g, "-").toLowerCase()}`;
  const wrong = errors.length > 0;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, { id, "aria-invalid": wrong, "aria-describedby": `${id}-said` })}
      <span id={`${id}-said`}>
        {wrong ? errors.map((one) => <span key={one.message} class="problem">{one.message}</span>) : hint && <span class="sub">{hint}</span>}
      </span>
    </div>
  );
}

function Picks({ label, names, chosen, errors, change, otherwise = "default" }: {
  label: string; otherwise?: string; names: { name: string; description: string }[]; chosen: string[]; errors: FieldProblem[]; change: (chosen: string[]) => void;
}) {
  return (
    <fieldset class="picks">
      <legend>{label} ({chosen.length || otherwise})</legend>
      <div class="picks-list">
        {names.map((one) => (
          <label key={one.name} title={one.description}>
            <input type="checkbox" checked={chosen.includes(one.name)} onChange={(event) =>
              change((event.currentTarget as HTMLInputElement).checked ? [...chosen, one.name] : chosen.filter((name) => name !== one.name))} />
            {one.name}
          </label>
        ))}
      </div>
      {errors.map((one) => <p key={one.message} class="problem">{one.message}</p>)}
    </fieldset>
  );
}
