/** One of a few, as a row of radio buttons that look like one control. */
export function Choice<T extends string>({ label, options, value, change }: {
  label: string; options: readonly (readonly [T, string])[]; value: T; change: (value: T) => void;
}) {
  const name = `choice-${label.replace(/\W+/g, "-")}`;
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      {options.map(([key, text]) => (
        <label key={key} class={key === value ? "chosen" : ""}>
          <input type="radio" name={name} value={key} checked={key === value} onChange={() => change(key)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}
