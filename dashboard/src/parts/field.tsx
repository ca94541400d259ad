import {
  useId,
  useState,
  type ComponentProps,
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react';

const BOX =
  'w-full rounded-md border border-strong-line bg-surface px-2 text-sm text-text placeholder:text-dim disabled:opacity-60 aria-invalid:border-bad';

export interface Labelled {
  readonly label: string;
  /** What the field means, below it. */
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly isLabelHidden?: boolean;
}

interface Wiring {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby'?: string;
}

function Field({
  label,
  hint,
  error,
  isLabelHidden = false,
  children,
}: Labelled & { readonly children: (wiring: Wiring) => ReactNode }): ReactElement {
  const id = useId();
  const describedBy = error !== undefined || hint !== undefined ? `${id}-note` : undefined;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'text-xs font-medium text-dim'}>
        {label}
      </label>
      {children({
        id,
        'aria-invalid': error !== undefined,
        ...(describedBy !== undefined && { 'aria-describedby': describedBy }),
      })}
      {describedBy !== undefined && (
        <p id={describedBy} className={`text-xs ${error === undefined ? 'text-dim' : 'text-bad'}`}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

export function TextField({
  label,
  hint,
  error,
  isLabelHidden,
  onChange,
  className = '',
  ...rest
}: Labelled & ComponentProps<'input'>): ReactElement {
  const [problem, setProblem] = useState<string>();
  return (
    <Field label={label} hint={hint} error={error ?? problem} {...(isLabelHidden !== undefined && { isLabelHidden })}>
      {(wiring) => (
        <input
          autoComplete="off"
          {...rest}
          {...wiring}
          onInvalid={({ currentTarget }) => setProblem(problemOf(currentTarget.validity, currentTarget))}
          onChange={(event) => {
            setProblem(undefined);
            onChange?.(event);
          }}
          className={`h-7 ${BOX} ${className}`}
        />
      )}
    </Field>
  );
}

/** What is wrong with a field when its form was to be sent: our own words for what is missing, those of its part, or the browser's. */
function problemOf(
  { valueMissing, customError }: ValidityState,
  field: { readonly validationMessage: string },
): string {
  return valueMissing && !customError ? 'Fill in this field.' : field.validationMessage;
}

export function TextArea({
  label,
  hint,
  error,
  isLabelHidden,
  onChange,
  className = '',
  ...rest
}: Labelled & TextareaHTMLAttributes<HTMLTextAreaElement>): ReactElement {
  const [problem, setProblem] = useState<string>();
  return (
    <Field label={label} hint={hint} error={error ?? problem} {...(isLabelHidden !== undefined && { isLabelHidden })}>
      {(wiring) => (
        <textarea
          {...rest}
          {...wiring}
          onInvalid={({ currentTarget }) => setProblem(problemOf(currentTarget.validity, currentTarget))}
          onChange={(event) => {
            setProblem(undefined);
            onChange?.(event);
          }}
          className={`py-1.5 ${BOX} ${className}`}
        />
      )}
    </Field>
  );
}

export interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

/** One of a list; a value that is not in it is shown as the first. */
export function Select<Value extends string>({
  label,
  hint,
  error,
  isLabelHidden,
  options,
  onChange,
  className = '',
  ...rest
}: Labelled &
  Omit<SelectHTMLAttributes<HTMLSelectElement>, 'value' | 'onChange'> & {
    readonly value: Value;
    readonly options: readonly Option<Value>[];
    readonly onChange: (value: Value) => void;
  }): ReactElement {
  const choose = (text: string): void => {
    const chosen = options.find(({ value }) => value === text);
    if (chosen !== undefined) onChange(chosen.value);
  };
  return (
    <Field label={label} hint={hint} error={error} {...(isLabelHidden !== undefined && { isLabelHidden })}>
      {(wiring) => (
        <select
          {...rest}
          {...wiring}
          onChange={(event) => choose(event.target.value)}
          className={`h-7 ${BOX} ${className}`}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Checkbox({
  label,
  hint,
  ...rest
}: { readonly label: ReactNode; readonly hint?: ReactNode } & InputHTMLAttributes<HTMLInputElement>): ReactElement {
  return (
    <label className="flex min-h-7 items-start gap-2 py-1">
      <input {...rest} type="checkbox" className="mt-0.5 size-4 shrink-0 accent-accent-solid" />
      <span>
        {label}
        {hint !== undefined && <span className="block text-xs text-dim">{hint}</span>}
      </span>
    </label>
  );
}

/** One of a few, as buttons beside each other. */
export function Segments<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  readonly onChange: (value: Value) => void;
}): ReactElement {
  return (
    <div role="group" aria-label={label} className="inline-flex h-7 rounded-md border border-line bg-surface p-0.5">
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className="min-w-6 rounded px-2 text-xs font-medium text-dim hover:text-text aria-pressed:bg-hover aria-pressed:text-text"
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
