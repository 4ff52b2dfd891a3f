// The fields of the form, each with what it means and what the service says of it.
import type { FieldProblem } from "../lib/api.ts";
import type { Resource } from "../lib/hooks.ts";
import type { Catalogue, Page } from "../lib/types.ts";
import { Action, Section } from "../ui/parts.tsx";
import { ALL_FINISH, isAdaptive, leftOut, type Optional } from "./applies.ts";
import { errorsAt, Field } from "./field.tsx";
import { PRIORITIES, type Form } from "./form.ts";
import { LABELS } from "./labels.ts";
import { initialFor } from "./purposes.ts";
import { Picks } from "./picks.tsx";
import { PriceSection } from "./pricing.tsx";
import { factsOf, labelled, type StoredMachine, type StoredProgram } from "./stored.ts";
import { Upload } from "./upload.tsx";

export interface Stored { programs: Resource<Page<StoredProgram>>; machines: Resource<Page<StoredMachine>> }

interface Props {
  form: Form;
  catalogue: Catalogue;
  errors: FieldProblem[];
  stored: Stored;
  /** An archive of sources that was dropped. */
  archive: File | null;
  /** Told when a program was uploaded. */
  uploaded: () => void;
  change: (part: Partial<Form>) => void;
  /** Puts what a stored machine says into the fields that describe one. */
  describe: (machine: string) => Promise<void>;
}

type Options = readonly (readonly [string, string])[];

/** A section's share of the form: makes fields of names. */
function parts({ form, errors, catalogue, change }: Props) {
  const hidden = leftOut(form, catalogue);
  const shows = (name: Optional) => !hidden.has(name);
  const at = (...paths: string[]) => errorsAt(errors, ...paths);
  const text = (name: keyof Form, label: string, path: string, hint?: string, grey = false) => (
    <Field label={label} errors={at(path)} hint={hint} meaning={path} grey={grey}>
      <input value={form[name] as string} autocomplete="off" onInput={(event) => change({ [name]: (event.currentTarget as HTMLInputElement).value })} />
    </Field>
  );
  const select = (name: keyof Form, label: string, path: string, options: Options, hint?: string) => (
    <Field label={label} errors={at(path)} hint={hint} meaning={path}>
      <select value={form[name] as string} onChange={(event) => change({ [name]: (event.currentTarget as HTMLSelectElement).value })}>
        {options.map(([value, shown]) => <option key={value} value={value}>{shown}</option>)}
      </select>
    </Field>
  );
  /** What a job file says and the form has no field for. */
  const said = (part: string): Options => (part in form.rest ? [["file", "as the job file says"]] : []);
  return { at, text, select, shows, said };
}

export function JobForm(props: Props) {
  return (
    <>
      <ApplicationSection {...props} />
      <MachineSection {...props} />
      <SearchSection {...props} />
      {!leftOut(props.form, props.catalogue).has("weighed") && <PriceSection {...props} />}
      <BudgetSection {...props} />
    </>
  );
}

function ApplicationSection(props: Props) {
  const { form, catalogue, stored, archive, change } = props;
  const { at, text, select, said } = parts(props);
  const program = catalogue.programs.find((one) => one.name === form.builtin);
  const uploaded = stored.programs.data?.items.filter((one) => one.kind !== "builtin") ?? [];
  return (
    <Section title="Application">
      <div class="form-grid">
        {text("name", "Job name", "name")}
        {select("source", LABELS.source, "application.kind", [["builtin", "a built-in program"], ["stored", "one that was uploaded"], ...said("application")], "The program whose run is to become faster.")}
        {form.source === "file" ? null : form.source === "stored"
          ? select("application", "Uploaded", "application", [["", uploaded.length ? "choose …" : "none uploaded yet"], ...labelled(uploaded)],
            "A trace or an archive of sources; drop one on this page, or upload it below.")
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
                  <Field key={field.name} label={field.name} errors={at(`application.${field.name}`)} hint={field.description}>
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
      {form.source === "stored" && <Upload archive={archive} limit={catalogue.limits.program} onDone={({ id }) => { props.uploaded(); stored.programs.reload(); change({ application: id }); }} />}
    </Section>
  );
}

function MachineSection(props: Props) {
  const { form, stored, change, describe } = props;
  const { at, text, select, shows, said } = parts(props);
  const machines = stored.machines.data?.items ?? [];
  const chosen = machines.find((one) => one.id === form.machine);
  return (
    <Section title="Machine">
      <div class="form-grid">
        {select("machineSource", LABELS.machineSource, "machine.kind", [["described", "described here"], ["stored", "one that is stored"], ...said("machine")], "The hosts and the network that the program runs on.")}
        {form.machineSource === "file" ? null : form.machineSource === "stored"
          ? (
            <Field label="Stored" errors={at("machine")} hint="Drop the output of `ibnetdiscover` on this page, and hwloc's XML of a host, and they become a machine.">
              <select value={form.machine} onChange={(event) => {
                const id = (event.currentTarget as HTMLSelectElement).value;
                change({ machine: id, fixed: Boolean(machines.find((one) => one.id === id)?.network) });
              }}>
                <option value="">{machines.length ? "choose …" : "none stored yet"}</option>
                {machines.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
              </select>
            </Field>
          )
          : (
            <>
              {text("nodes", "Hosts", "machine.nodes")}
              {shows("degree") && text("degree", LABELS.degree, "machine.degree")}
              {text("cores", "Cores per host", "machine.cores_per_host")}
              {text("hostSpeed", "Host speed", "machine.host_speed")}
              {text("bandwidth", "Link bandwidth", "machine.link_bandwidth")}
              {text("linkLatency", "Link latency", "machine.link_latency")}
              {text("switchLatency", "Switch latency", "machine.switch_latency")}
              {shows("model") && select("model", LABELS.model, "machine.model", [["", "default"], ["smpi-default", "SMPI's calibration"], ["plain", "none"]])}
              {shows("network") && select("network", LABELS.network, "machine.network", [["", "default (auto)"], ["auto", "auto: packets, and fluid as well for the best"], ["packets", "packets"], ["fluid", "fluid"]])}
            </>
          )}
      </div>
      {form.machineSource === "stored" && chosen && (
        <>
          <p>{factsOf(chosen).join(" · ")}</p>
          <p class="actions"><Action kind="small" label="Change its numbers here" work={() => describe(chosen.id)} /></p>
        </>
      )}
    </Section>
  );
}

function SearchSection(props: Props) {
  const { form, catalogue, change } = props;
  const { at, text, select, shows } = parts(props);
  return (
    <Section title="Search space">
      {shows("topology") && (
        <Picks label={LABELS.topology} hint="The networks to compare. With none chosen, the machine must have one of its own." names={catalogue.topologies} chosen={form.topology} errors={at("search.topology")} change={(topology) => change({ topology })} />
      )}
      {shows("instances") && <div class="form-grid">{text("instances", LABELS.instances, "search.topology.instances")}</div>}
      {shows("ordering") && (
        <Picks label={LABELS.ordering} hint="How the hosts of a network are numbered, which decides which of them work together." names={catalogue.orderings} chosen={form.ordering} errors={at("search.ordering")} change={(ordering) => change({ ordering })} />
      )}
      {shows("mapping") && (
        <Picks label={LABELS.mapping} hint="On which core each rank of the program runs." names={catalogue.mappings} chosen={form.mapping} errors={at("search.mapping")} change={(mapping) => change({ mapping })} />
      )}
      {shows("target") && <div class="form-grid"><Target {...props} /></div>}
      {shows("mpi") && (
        <Picks label={LABELS.mpi} hint="Libraries whose own choice of algorithms is imitated." names={catalogue.mpi} chosen={form.mpi} errors={at("search.mpi")} change={(mpi) => change({ mpi })} />
      )}
      {shows("collectives") && (
        <Picks label={LABELS.collectives} hint="Operations for which every algorithm that works is tried; those that the program never calls are left out." otherwise={form.target ? "all that the application calls" : "default"}
          names={catalogue.collectives} chosen={form.collectives} errors={at("search.collectives")} change={(collectives) => change({ collectives })} />
      )}
      {shows("bySize") && (
        <div class="form-grid">
          {select("bySize", LABELS.bySize, "search.by_size", [["", "one for messages of all sizes"], ["yes", "by message size, where calls differ"]])}
        </div>
      )}
    </Section>
  );
}

function Target({ form, catalogue, errors, change }: Props) {
  const { target } = form;
  return (
    <Field label={LABELS.target} errors={errorsAt(errors, "search.target")} meaning="search.target">
      <select value={target} onChange={(event) => {
        const next = (event.currentTarget as HTMLSelectElement).value;
        // A library means all collectives that the program calls, unless somebody chose some.
        const { collectives } = initialFor(form.purpose);
        const untouched = form.collectives.join() === (target ? [] : collectives).join();
        change({ target: next, ...(untouched ? { collectives: next ? [] : collectives } : {}) });
      }}>
        <option value="">any</option>
        {catalogue.targets.map((one) => <option key={one.name} value={one.name}>{one.description}</option>)}
        {target && !catalogue.targets.some((one) => one.name === target) && <option value={target}>{target}</option>}
      </select>
    </Field>
  );
}

const CUTOFFS: Options = [["", "default (fixed)"], ["fixed", "fixed: all that get slower"], ["adaptive", "adaptive: a share runs to its end"], [ALL_FINISH, "none: all run to their end"]];

/** Which trials are cut off: two fields of a job file, for without a factor none is. */
function Cutoff({ form, errors, change }: Props) {
  const isOff = form.cutoffFactor === ALL_FINISH;
  return (
    <Field label={LABELS.cutoff} errors={errorsAt(errors, "cutoff", ...(isOff ? ["cutoff_factor"] : []))} hint={isOff ? "No trial is stopped for being slow." : undefined} meaning="cutoff">
      <select value={isOff ? ALL_FINISH : form.cutoff} onChange={(event) => {
        const next = (event.currentTarget as HTMLSelectElement).value;
        if (next === ALL_FINISH) change({ cutoffFactor: ALL_FINISH, cutoff: "" });
        else change({ cutoff: next, ...(isOff ? { cutoffFactor: "" } : {}) });
      }}>{CUTOFFS.map(([value, shown]) => <option key={value} value={value}>{shown}</option>)}</select>
    </Field>
  );
}

function BudgetSection(props: Props) {
  const { form } = props;
  const { at, text, select, shows } = parts(props);
  return (
    <Section title="Budget">
      <div class="form-grid">
        {text("trials", LABELS.trials, "budget.trials")}
        {text("wall", LABELS.wall, "budget.wall_seconds")}
        {text("patience", LABELS.patience, "budget.patience", form.weighed ? "Search trials in a row that add nothing to the front." : undefined)}
        {shows("until") && text("until", LABELS.until, "budget.until")}
        {text("seed", LABELS.seed, "seed")}
        {shows("fidelity") && select("fidelity", LABELS.fidelity, "fidelity", [["", "default: depends on the size of the trace"], ["full", "the whole trace"], ["auto", "a truncated trace, then verified"]])}
        {shows("cutoffFactor") && form.cutoffFactor !== ALL_FINISH && text("cutoffFactor", LABELS.cutoffFactor, "cutoff_factor", undefined, true)}
        {shows("cutoff") && <Cutoff {...props} />}
        {isAdaptive(form) && text("completedShare", LABELS.completedShare, "completed_share")}
        {shows("priority") && select("priority", LABELS.priority, "priority", PRIORITIES.map((one) => [one, one] as const))}
      </div>
      {at("budget").filter((one) => one.field === "budget").map((one) => <p key={one.message} class="problem">{one.message}</p>)}
    </Section>
  );
}
