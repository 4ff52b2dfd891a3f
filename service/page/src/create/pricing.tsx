// The fields for the price of networks: what is weighed against time, limits, and the parts to buy.
import type { FieldProblem } from "../lib/api.ts";
import type { Catalogue } from "../lib/types.ts";
import { Section } from "../ui/parts.tsx";
import { errorsAt, Field } from "./field.tsx";
import type { Form } from "./form.ts";
import { LABELS } from "./labels.ts";
import { asksForPrices, DETAILS, LIMITS, SWITCH, switchesOf, type PartsFields, type Weighed } from "./price.ts";

interface Props { form: Form; catalogue: Catalogue; errors: FieldProblem[]; change: (part: Partial<Form>) => void }

const OBJECTIVES: readonly (readonly [Weighed, string, string])[] = [
  ["", "time alone", "The search looks for the fastest configuration."],
  ["cost", "time and cost", "The search looks for configurations that no other one beats in both."],
  ["power", "time and power", "The search looks for configurations that no other one beats in both."],
  ["energy", "time and energy", "The search looks for configurations that no other one beats in both: joules that network and hosts draw during the run."],
];

const LIMIT_FIELDS: Record<(typeof LIMITS)[number], string> = {
  cost: "Highest cost", power: "Highest power", switches: "Most switches", cables: "Most cables", diameter: "Largest diameter",
};

const GROUPS: readonly (readonly [keyof typeof DETAILS, string])[] = [["cables", "Cables"], ["adapters", "Adapters"], ["hosts", "Hosts"], ["floor", "Floor"]];

const DETAIL_FIELDS: Record<string, string> = {
  "cables.reach": "Reach of copper", "cables.copper": "Copper cable", "cables.copper_metre": "Metre of copper",
  "cables.optical": "Optical cable", "cables.optical_metre": "Metre of optical cable", "cables.optical_watts": "Watts of an optical cable",
  "adapters.price": "Adapter", "adapters.watts": "Watts of an adapter",
  "hosts.watts": "Watts of an idle host", "hosts.core_watts": "Watts of a computing core",
  "floor.rack_nodes": "Nodes in a rack", "floor.width": "Width of a rack", "floor.depth": "Depth of a row",
  "floor.inside": "Cable inside a rack", "floor.overhead": "Extra length between racks",
};

export function PriceSection({ form, catalogue, errors, change }: Props) {
  const asked = asksForPrices(form);
  return (
    <Section title="Cost and power of the network">
      <div class="form-grid">
        <Field label={LABELS.weighed} errors={errorsAt(errors, "objective")} hint={OBJECTIVES.find(([one]) => one === form.weighed)?.[2]}>
          <select value={form.weighed} onChange={(event) => change({ weighed: (event.currentTarget as HTMLSelectElement).value as Weighed })}>
            {OBJECTIVES.map(([value, shown]) => <option key={value} value={value}>{shown}</option>)}
          </select>
        </Field>
      </div>
      <fieldset class="picks">
        <legend>Limits: no network that breaks one is simulated</legend>
        <div class="form-grid">
          {LIMITS.map((name) => (
            <Field key={name} label={LIMIT_FIELDS[name]} meaning={`constraints.${name}`} bare errors={errorsAt(errors, `constraints.${name}`)}>
              <input value={form.limits[name] ?? ""} placeholder="no limit" autocomplete="off"
                onInput={(event) => change({ limits: { ...form.limits, [name]: (event.currentTarget as HTMLInputElement).value } })} />
            </Field>
          ))}
        </div>
        {errors.filter((one) => one.field === "constraints").map((one) => <p key={one.message} class="problem">{one.message}</p>)}
      </fieldset>
      {(asked || form.parts) && form.machineSource !== "file" && (form.machineSource === "stored"
        ? <p class="quiet">Prices and watts are those of the stored machine, or round figures where it has none.</p>
        : <Prices form={form} catalogue={catalogue} errors={errors} change={change} />)}
    </Section>
  );
}

function Prices({ form, catalogue, errors, change }: Props) {
  const { parts } = form;
  return (
    <>
      <div class="form-grid">
        <Field label={LABELS.parts} errors={errors.filter((one) => one.field === "machine.parts")}
          hint={parts ? "In any one currency; an empty field stands for the figure in grey." : "Round figures in no currency, to be replaced by your own."}>
          <select value={parts ? "own" : ""} onChange={(event) => change({
            parts: (event.currentTarget as HTMLSelectElement).value ? { switches: switchesOf(catalogue.parts.switches), details: {} } : null,
          })}>
            <option value="">round figures</option><option value="own">my own</option>
          </select>
        </Field>
      </div>
      {parts && <Switches parts={parts} errors={errors} set={(next) => change({ parts: next })} />}
      {parts && GROUPS.map(([group, title]) => (
        <fieldset class="picks" key={group}>
          <legend>{title}</legend>
          <div class="form-grid">
            {DETAILS[group].map((one) => {
              const name = `${group}.${one}`;
              return (
                <Field key={name} label={DETAIL_FIELDS[name] ?? name} meaning={`machine.parts.${name}`} errors={errorsAt(errors, `machine.parts.${name}`)}>
                  <input value={parts.details[name] ?? ""} placeholder={String(catalogue.parts[group][one] ?? "")} autocomplete="off" inputMode="decimal"
                    onInput={(event) => change({ parts: { ...parts, details: { ...parts.details, [name]: (event.currentTarget as HTMLInputElement).value } } })} />
                </Field>
              );
            })}
          </div>
        </fieldset>
      ))}
    </>
  );
}

const COLUMNS: Record<(typeof SWITCH)[number], string> = { radix: "Ports", price: "Price", watts: "Watts" };

/** The switches that can be bought, a row for each. */
function Switches({ parts, errors, set }: { parts: PartsFields; errors: FieldProblem[]; set: (parts: PartsFields) => void }) {
  const { switches } = parts;
  const place = "machine.parts.switches";
  const general = errors.filter((one) => one.field === place);
  return (
    <fieldset class="picks">
      <legend>Switches: each one of a network is the cheapest with ports for all its cables</legend>
      {switches.length > 0 && (
        <table class="catalogue">
          <thead><tr>{SWITCH.map((name) => <th key={name} scope="col">{COLUMNS[name]}</th>)}<th scope="col"><span class="visually-hidden">Remove</span></th></tr></thead>
          <tbody>{switches.map((one, i) => (
            <tr key={i}>
              {SWITCH.map((name) => {
                const wrong = errorsAt(errors, `${place}.${i}.${name}`);
                const id = `switch-${i}-${name}`;
                return (
                  <td key={name}>
                    <input value={one[name]} aria-label={`${COLUMNS[name]} of switch ${i + 1}`} autocomplete="off" inputMode="decimal"
                      aria-invalid={wrong.length > 0} aria-describedby={id}
                      onInput={(event) => set({ ...parts, switches: switches.map((other, k) => (k === i ? { ...other, [name]: event.currentTarget.value } : other)) })} />
                    <span id={id}>{wrong.map((problem) => <span key={problem.message} class="problem">{problem.message}</span>)}</span>
                  </td>
                );
              })}
              <td><button type="button" class="small" aria-label={`Remove switch ${i + 1}`} onClick={() => set({ ...parts, switches: switches.filter((_, k) => k !== i) })}>Remove</button></td>
            </tr>
          ))}</tbody>
        </table>
      )}
      {switches.length === 0 && <p class="quiet">None is listed, so those with round figures can be bought.</p>}
      {general.map((one) => <p key={one.message} class="problem">{one.message}</p>)}
      <p class="actions"><button type="button" class="small" onClick={() => set({ ...parts, switches: [...switches, { radix: "", price: "", watts: "" }] })}>Add a switch</button></p>
    </fieldset>
  );
}
