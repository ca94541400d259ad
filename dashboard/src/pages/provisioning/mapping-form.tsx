import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import type { Workspace } from '../../api/lists.ts';
import { useChange } from '../../api/read.ts';
import { Select } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import type { ScimGroup } from './columns.tsx';

export const ROLES = [
  { value: 'member', label: 'member' },
  { value: 'admin', label: 'admin' },
] as const;

/** Makes the members of a group members of a workspace. */
export function MappingForm({
  groups,
  workspaces,
  isOpen,
  onClose,
}: {
  readonly groups: readonly ScimGroup[];
  readonly workspaces: readonly Workspace[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [chosenGroup, setGroup] = useState('');
  const [chosenWorkspace, setWorkspace] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number]['value']>('member');
  const group = chosenGroup === '' ? (groups[0]?.id ?? '') : chosenGroup;
  const workspace = chosenWorkspace === '' ? (workspaces[0]?.id ?? '') : chosenWorkspace;
  const body = { scim_group_id: group, workspace_id: workspace, role };
  const make = useChange((input: typeof body) => client.POST('/scim/group-mappings', { body: input }), onClose);
  return (
    <FormDialog
      title="New mapping"
      isOpen={isOpen}
      onClose={onClose}
      change={make}
      input={body}
      submit="Make mapping"
      isReady={group !== '' && workspace !== ''}
      request={{ method: 'POST', path: '/scim/group-mappings', body }}
    >
      {groups.length === 0 && <p className="text-dim">No group was pushed yet: the provider makes the first one.</p>}
      <Select
        label="Group"
        value={group}
        options={groups.map(({ id, display_name: name }) => ({ value: id, label: name }))}
        error={issueFor(make.error, 'scim_group_id')}
        onChange={setGroup}
      />
      <Select
        label="Workspace"
        value={workspace}
        options={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
        error={issueFor(make.error, 'workspace_id')}
        onChange={setWorkspace}
      />
      <Select
        label="Role"
        value={role}
        options={ROLES}
        hint="What people gave by hand stays, whatever groups say."
        error={issueFor(make.error, 'role')}
        onChange={setRole}
      />
    </FormDialog>
  );
}
