import { useEffect, useRef, type ReactElement } from 'react';
import { TextField, type Labelled } from './field.tsx';
import { problemOfNumber, type NumberRules } from './number-text.ts';

/**
 * A number, kept as it is typed until it is one. While it is none the field is invalid, so that its form is not sent; see
 * `parseNumber` for its value.
 */
export function NumberField({
  value,
  onChange,
  error,
  isRequired = false,
  isWhole = false,
  min,
  max,
  ...rest
}: Labelled &
  NumberRules & {
    readonly value: string;
    readonly onChange: (text: string) => void;
    readonly placeholder?: string;
    readonly autoFocus?: boolean;
  }): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  const rules = { isRequired, isWhole, ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  const problem = problemOfNumber(value, rules);
  useEffect(() => input.current?.setCustomValidity(problem ?? ''), [problem]);
  // A field that nothing was typed into is wrong only once its form was to be sent.
  const shown = value.trim() === '' ? undefined : problem;
  return (
    <TextField
      {...rest}
      ref={input}
      inputMode={isWhole ? 'numeric' : 'decimal'}
      value={value}
      error={shown ?? error}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
