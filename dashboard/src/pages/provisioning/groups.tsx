import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { nameOf, useWorkspaces, type Workspace } from '../../api/lists.ts';
import { useChange, useList } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Checkbox, Select } from '../../parts/field.tsx';
import { matches } from '../../parts/filter-box.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { Grid } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { groupColumns, type Group, type Mapping } from './columns.tsx';
import { Listed, type TabProps } from './tab.tsx';

const ROLES = [
  { value: 'member', label: 'member' },
  { value: 'admin', label: 'admin' },
] as const;
type Role = (typeof ROLES)[number]['value'];

/** Groups as the provider pushed them, and what their members are here. */
export function Groups({ filter, peek, onPeek, onFilter }: TabProps): ReactElement {
  const groups = useList(['scim-groups'], (window, signal) =>
    client.GET('/scim/groups', { signal, params: { query: window } }),
  );
  const mappings = useList(['scim-mappings'], (window, signal) =>
    client.GET('/scim/group-mappings', { signal, params: { query: window } }),
  );
  const workspaces = useWorkspaces();
  const found = (groups.data?.items ?? []).filter((group) => matches(filter, group.display_name, group.external_id));
  const peeked = found.find(({ id }) => id === peek);
  return (
    <Load of={groups}>
      {({ items }) => (
        <Listed
          what="group"
          total={items.length}
          found={found.length}
          filter={filter}
          onFilter={onFilter}
          empty={
            <Empty title="No group was pushed">
              <p>Assign groups to the gateway at the provider. Here they are mapped to workspaces, with a role.</p>
            </Empty>
          }
        >
          <Load of={mappings}>
            {({ items: mapped }) => (
              <>
                <Grid
                  label="Groups"
                  columns={groupColumns(mapped, workspaces.data)}
                  rows={found}
                  keyOf={({ id }) => id}
                  chosen={peek}
                  onPeek={({ id }) => onPeek(id)}
                />
                {peeked !== undefined && (
                  <GroupPanel
                    key={peeked.id}
                    group={peeked}
                    mappings={mapped.filter(({ scim_group_id: id }) => id === peeked.id)}
                    workspaces={workspaces.data ?? []}
                    onClose={() => onPeek(undefined)}
                  />
                )}
              </>
            )}
          </Load>
        </Listed>
      )}
    </Load>
  );
}

function GroupPanel({
  group,
  mappings,
  workspaces,
  onClose,
}: {
  readonly group: Group;
  readonly mappings: readonly Mapping[];
  readonly workspaces: readonly Workspace[];
  readonly onClose: () => void;
}): ReactElement {
  const [isAdding, setIsAdding] = useState(false);
  const [removed, setRemoved] = useState<Mapping>();
  const change = useChange(({ id, role }: { readonly id: string; readonly role: Role }) =>
    client.PATCH('/scim/group-mappings/{id}', { params: { path: { id } }, body: { role } }),
  );
  const { display_name: name, member_count: members, external_id: externalId } = group;
  return (
    <SidePanel title={<Name>{name}</Name>} onClose={onClose}>
      <Section title="Group">
        <Facts
          of={[
            ['Members', formatCount(members)],
            ['Id', <Id key="id" id={group.id} length={36} />],
            ['At the provider', externalId === null ? 'unknown' : <Name key="external">{externalId}</Name>],
            ['Pushed first', <Ago key="first" at={group.created_at} />],
            ['Changed', <Ago key="changed" at={group.updated_at} />],
          ]}
        />
      </Section>
      <Section
        title="Makes its members"
        actions={
          <Button icon="plus" onClick={() => setIsAdding(true)}>
            Map to a workspace
          </Button>
        }
      >
        {mappings.length === 0 && <p className="text-dim">Nothing: it is mapped to no workspace.</p>}
        <ul className="flex flex-col gap-2">
          {mappings.map((mapping) => (
            <li key={mapping.id} className="flex flex-wrap items-center gap-2">
              <Select
                label={`Role in ${nameOf(workspaces, mapping.workspace_id)}`}
                isLabelHidden
                options={ROLES}
                value={mapping.role}
                disabled={change.isPending}
                onChange={(role) => change.mutate({ id: mapping.id, role })}
              />
              <span className="min-w-0 flex-1 break-words">
                of <Name>{nameOf(workspaces, mapping.workspace_id)}</Name>
              </span>
              <Button
                icon="trash"
                aria-label={`Delete the mapping to ${nameOf(workspaces, mapping.workspace_id)}`}
                onClick={() => setRemoved(mapping)}
              />
            </li>
          ))}
        </ul>
        {change.isError && (
          <p role="alert" className="mt-2 text-bad">
            {change.error.message}
          </p>
        )}
      </Section>
      <MappingForm
        key={String(isAdding)}
        group={group}
        workspaces={workspaces.filter(({ id }) => !mappings.some(({ workspace_id: mapped }) => mapped === id))}
        isOpen={isAdding}
        onClose={() => setIsAdding(false)}
      />
      <UnmapForm
        key={removed?.id ?? ''}
        mapping={removed}
        workspace={nameOf(workspaces, removed?.workspace_id ?? null)}
        onClose={() => setRemoved(undefined)}
      />
    </SidePanel>
  );
}

function MappingForm({
  group,
  workspaces,
  isOpen,
  onClose,
}: {
  readonly group: Group;
  /** Those that it is not mapped to. */
  readonly workspaces: readonly Workspace[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [workspace, setWorkspace] = useState(workspaces[0]?.id ?? '');
  const [role, setRole] = useState<Role>('member');
  const body = { scim_group_id: group.id, workspace_id: workspace, role };
  const create = useChange((input: typeof body) => client.POST('/scim/group-mappings', { body: input }), onClose);
  return (
    <FormDialog
      title={`Map “${group.display_name}”`}
      isOpen={isOpen}
      onClose={onClose}
      change={create}
      input={body}
      submit="Map"
      isReady={workspace !== ''}
      request={{ method: 'POST', path: '/scim/group-mappings', body }}
    >
      {workspaces.length === 0 && <p>It is mapped to every workspace already.</p>}
      <Select
        label="Workspace"
        options={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
        value={workspace}
        error={issueFor(create.error, 'workspace_id')}
        onChange={setWorkspace}
      />
      <Select label="Role there" options={ROLES} value={role} onChange={setRole} />
      <p className="text-dim">
        {group.member_count === 1 ? 'Its member gets' : `Its ${formatCount(group.member_count)} members get`} this at
        once, and those that join it later when the provider pushes them. Of several roles the highest counts.
      </p>
    </FormDialog>
  );
}

function UnmapForm({
  mapping,
  workspace,
  onClose,
}: {
  readonly mapping: Mapping | undefined;
  readonly workspace: string;
  readonly onClose: () => void;
}): ReactElement {
  const [isKept, setIsKept] = useState(false);
  const id = mapping?.id ?? '';
  const keep = isKept ? 'true' : 'false';
  const remove = useChange(
    (input: 'true' | 'false') =>
      client.DELETE('/scim/group-mappings/{id}', { params: { path: { id }, query: { keep_members: input } } }),
    onClose,
  );
  return (
    <FormDialog
      title={`Delete the mapping to ${workspace}`}
      isOpen={mapping !== undefined}
      onClose={onClose}
      change={remove}
      input={keep}
      submit="Delete mapping"
      look="danger"
      request={{ method: 'DELETE', path: `/scim/group-mappings/${id}?keep_members=${keep}` }}
    >
      <p>
        {isKept
          ? 'Its members stay in the workspace, as if they had been added by hand.'
          : 'Members that it alone made members leave the workspace.'}
      </p>
      <Checkbox label="Its members stay" checked={isKept} onChange={(event) => setIsKept(event.target.checked)} />
    </FormDialog>
  );
}
