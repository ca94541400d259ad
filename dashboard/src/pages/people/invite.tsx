import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useWorkspaces } from '../../api/lists.ts';
import { useChange } from '../../api/read.ts';
import { Select, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import type { ShownLink } from './link-once.tsx';

export const INVITATION_DAYS = 7;
const ROLES = [
  { value: 'org:member', label: 'member: own keys and requests' },
  { value: 'org:admin', label: 'admin: the whole administration' },
] as const;
const WORKSPACE_ROLES = [
  { value: 'member', label: 'as a member' },
  { value: 'admin', label: 'as its admin' },
] as const;

/** Invites a person, and shows the link. */
export function Invite({
  isOpen,
  onClose,
  onLink,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onLink: (shown: ShownLink) => void;
}): ReactElement {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number]['value']>('org:member');
  const [workspace, setWorkspace] = useState('');
  const [workspaceRole, setWorkspaceRole] = useState<(typeof WORKSPACE_ROLES)[number]['value']>('member');
  const workspaces = useWorkspaces();
  const invite = useChange(
    (body: Schemas['InviteOrganizationMemberRequest']) => client.POST('/organization/members', { body }),
    (made) => {
      if (made !== undefined) onLink({ email: made.data.email, link: made.link, days: INVITATION_DAYS });
      setEmail('');
      onClose();
    },
  );
  const body = {
    email: email.trim(),
    role,
    ...(workspace !== '' && { workspaces: [{ workspace_id: workspace, role: workspaceRole }] }),
  };
  return (
    <FormDialog
      title="Invite a person"
      isOpen={isOpen}
      onClose={() => {
        invite.reset();
        onClose();
      }}
      change={invite}
      input={body}
      submit="Make the link"
      request={{ method: 'POST', path: '/organization/members', body }}
    >
      <TextField
        label="Mail address"
        type="email"
        required
        autoFocus
        placeholder="ann@acme.example"
        value={email}
        error={issueFor(invite.error, 'email')}
        onChange={(event) => setEmail(event.target.value)}
      />
      <Select label="Role in the organization" options={ROLES} value={role} onChange={setRole} />
      <div className="grid grid-cols-2 gap-3">
        <Select
          label="Workspace"
          options={[
            { value: '', label: 'the default one alone' },
            ...(workspaces.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={workspace}
          onChange={setWorkspace}
        />
        <Select
          label="There"
          options={WORKSPACE_ROLES}
          value={workspaceRole}
          disabled={workspace === ''}
          onChange={setWorkspaceRole}
        />
      </div>
    </FormDialog>
  );
}
