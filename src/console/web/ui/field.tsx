/** Labelled form fields, each with its hint and its problem read out by screen readers. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Why the value cannot be used. */
  readonly problem?: string | undefined;
}

/** What the control inside a field must carry. */
export interface ControlProps {
  readonly id: string;
  readonly class: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
}

export const Field = ({
  label,
  hint,
  problem,
  children,
}: FieldProps & { readonly children: (control: ControlProps) => ComponentChildren }) => {
  const id = useId();
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        class: 'input',
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': problem === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {problem !== undefined && (
        <span class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </span>
      )}
    </div>
  );
};

interface Editable extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string | undefined;
  readonly required?: boolean;
}

export interface TextFieldProps extends Editable {
  readonly type?: 'text' | 'password' | 'number' | 'search' | 'url' | 'date' | 'datetime-local';
  readonly min?: number | string | undefined;
  readonly max?: number | string | undefined;
  readonly step?: number | 'any' | undefined;
  /** Names of suggestions. */
  readonly suggestions?: readonly string[] | undefined;
  readonly autoComplete?: string;
}

export const TextField = ({
  value,
  onChange,
  type = 'text',
  placeholder,
  required = false,
  min,
  max,
  step,
  suggestions,
  autoComplete = 'off',
  ...field
}: TextFieldProps) => {
  const list = useId();
  return (
    <Field {...field}>
      {(control) => (
        <>
          <input
            {...control}
            // The typings tell apart what only some types may have.
            {...({ type } as { type: 'text' })}
            value={value}
            placeholder={placeholder}
            required={required}
            min={min}
            max={max}
            step={step}
            autocomplete={autoComplete}
            spellcheck={false}
            list={suggestions === undefined ? undefined : list}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
          {suggestions !== undefined && (
            <datalist id={list}>
              {suggestions.map((suggestion) => (
                <option key={suggestion} value={suggestion} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
};

export const TextArea = ({
  value,
  onChange,
  placeholder,
  required = false,
  rows = 3,
  mono = false,
  ...field
}: Editable & { readonly rows?: number; readonly mono?: boolean }) => (
  <Field {...field}>
    {(control) => (
      <textarea
        {...control}
        class={mono ? 'input mono' : 'input'}
        rows={rows}
        value={value}
        placeholder={placeholder}
        required={required}
        spellcheck={!mono}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    )}
  </Field>
);

export interface Option {
  readonly value: string;
  readonly label: string;
}

export const SelectField = ({
  value,
  onChange,
  options,
  ...field
}: FieldProps & {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly (Option | string)[];
}) => (
  <Field {...field}>
    {(control) => (
      <select {...control} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options
          .map((option) => (typeof option === 'string' ? { value: option, label: option } : option))
          .map((option) => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.label}
            </option>
          ))}
      </select>
    )}
  </Field>
);

export const FileField = ({
  onChange,
  accept,
  multiple = false,
  ...field
}: FieldProps & {
  readonly onChange: (files: readonly File[]) => void;
  readonly accept?: string;
  readonly multiple?: boolean;
}) => (
  <Field {...field}>
    {(control) => (
      <input
        {...control}
        type="file"
        accept={accept}
        multiple={multiple}
        onChange={(event) => onChange([...(event.currentTarget.files ?? [])])}
      />
    )}
  </Field>
);

export const Checkbox = ({
  label,
  checked,
  onChange,
}: {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    {label}
  </label>
);
