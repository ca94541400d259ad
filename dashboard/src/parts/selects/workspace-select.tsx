import type { ReactElement } from 'react';
import { useManagedWorkspaces } from '../../api/lists.ts';
import { Select } from '../field.tsx';

/**
 * Whose things a page shows: of operators any workspace, of others those that they administer. @returns nothing for a bar
 * where there is no choice
 */
export function useWorkspaceSelect(value: string, onChange: (id: string) => void): ReactElement | undefined {
  const workspaces = useManagedWorkspaces().data ?? [];
  if (workspaces.length < 2) return undefined;
  return (
    <Select
      label="Workspace"
      isLabelHidden
      value={value === '' ? (workspaces[0]?.id ?? '') : value}
      options={workspaces.map(({ id, name }) => ({ value: id, label: `workspace ${name}` }))}
      onChange={onChange}
    />
  );
}
