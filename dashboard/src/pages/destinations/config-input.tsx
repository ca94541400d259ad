import type { ReactElement } from 'react';
import { Select, TextArea, TextField } from '../../parts/field.tsx';
import type { ConfigField } from './config-fields.ts';

const SWITCH = [
  { value: '', label: 'as usual' },
  { value: 'true', label: 'yes' },
  { value: 'false', label: 'no' },
] as const;

/** One field of a configuration. A stored secret is kept while its field stays empty, unless the address moves. */
export function ConfigInput({
  field: { label, kind, isRequired, hint, placeholder, choices },
  value,
  mask,
  isMoved,
  error,
  onChange,
}: {
  readonly field: ConfigField;
  readonly value: string;
  /** Of what is stored. */
  readonly mask: string | undefined;
  readonly isMoved: boolean;
  readonly error: string | undefined;
  readonly onChange: (text: string) => void;
}): ReactElement {
  const common = { label, value, error, ...(hint !== undefined && { hint }) };
  const isNeeded = mask === undefined ? isRequired : isMoved;
  const kept = mask !== undefined && !isMoved ? `kept: ${mask}` : placeholder;
  if (kind === 'choice')
    return (
      <Select
        {...common}
        options={[{ value: '', label: 'as usual' }, ...choices.map((choice) => ({ value: choice, label: choice }))]}
        onChange={onChange}
      />
    );
  if (kind === 'switch') return <Select<string> {...common} options={SWITCH} onChange={onChange} />;
  if (kind === 'lines')
    return (
      <TextArea
        {...common}
        hint={hint ?? 'Name: value, one a line. Values are sealed, and never shown again.'}
        rows={2}
        required={isNeeded}
        className="font-mono text-xs"
        spellCheck={false}
        placeholder={kept ?? 'X-Scope-OrgID: team-a'}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  return (
    <TextField
      {...common}
      required={isNeeded}
      type={kind === 'secret' ? 'password' : 'text'}
      autoComplete={kind === 'secret' ? 'new-password' : 'off'}
      spellCheck={false}
      placeholder={kept}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
