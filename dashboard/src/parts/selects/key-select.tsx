import type { ReactElement } from 'react';
import { useKeys } from '../../api/lists.ts';
import { useConsole } from '../../api/session.ts';
import { Select } from '../field.tsx';

/** Whose view it is: for operators. Without keys there is nothing to choose. */
export function KeySelect({
  label,
  value,
  none,
  onChange,
  isLabelHidden = false,
}: {
  readonly label: string;
  /** The hash of a key; empty: none. */
  readonly value: string;
  /** What stands for none. */
  readonly none: string;
  readonly onChange: (hash: string | undefined) => void;
  readonly isLabelHidden?: boolean;
}): ReactElement | undefined {
  const { isOperator } = useConsole();
  const keys = useKeys(isOperator);
  const usable = (keys.data ?? []).filter(({ disabled }) => !disabled);
  if (!isOperator || usable.length === 0) return undefined;
  return (
    <Select
      label={label}
      isLabelHidden={isLabelHidden}
      value={value}
      options={[{ value: '', label: none }, ...usable.map(({ hash, name }) => ({ value: hash, label: name }))]}
      onChange={(hash) => onChange(hash === '' ? undefined : hash)}
    />
  );
}
