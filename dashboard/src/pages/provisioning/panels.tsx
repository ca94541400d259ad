import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Status } from '../../parts/badge.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { Segments } from '../../parts/field.tsx';
import { DeleteDialog, FormDialog } from '../../parts/form.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { formatUtc } from '../../parts/time.ts';
import type { ScimMapping, ScimRequest, ScimToken } from './columns.tsx';
import { ROLES } from './mapping-form.tsx';

/** One request of an identity provider. Its body is not kept. */
export function RequestPanel({
  request,
  tokens,
  onClose,
}: {
  readonly request: ScimRequest;
  readonly tokens: readonly ScimToken[];
  readonly onClose: () => void;
}): ReactElement {
  const { at, status, method, path, address, outcome, token_id: tokenId } = request;
  const token = tokens.find(({ id }) => id === tokenId)?.name ?? tokenId ?? 'none';
  return (
    <SidePanel title={`${method} ${status}`} onClose={onClose}>
      <Section title="Request">
        <Facts
          of={[
            ['Time', formatUtc(new Date(at))],
            ['Status', <Status key="status" status={status} />],
            ['Path', <Name key="path">{path}</Name>],
            ['From', address],
            ['Token', <Name key="token">{token}</Name>],
          ]}
        />
      </Section>
      <Section title={status < 400 ? 'What changed' : 'Why not'}>
        <p className="break-words">{outcome === '' ? 'Nothing changed.' : <Name>{outcome}</Name>}</p>
      </Section>
    </SidePanel>
  );
}

/** One token. There is no way to see it again. */
export function TokenPanel({
  token,
  onClose,
}: {
  readonly token: ScimToken;
  readonly onClose: () => void;
}): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const { id, name, label, created_at: made, expires_at: ends, last_used_at: used, last_used_from: from } = token;
  const remove = useChange(() => client.DELETE('/scim/tokens/{id}', { params: { path: { id } } }), onClose);
  return (
    <SidePanel title={<Name>{name}</Name>} onClose={onClose}>
      <Section
        title="Token"
        actions={<IconButton icon="trash" label="Delete the token" onClick={() => setIsDeleting(true)} />}
      >
        <Facts
          of={[
            ['Excerpt', label],
            ['Made', <Ago key="made" at={made} />],
            ['Ends', ends === null ? 'never' : formatUtc(new Date(ends))],
            ['Last used', <Ago key="used" at={used} />],
            ['From', from ?? '–'],
          ]}
        />
      </Section>
      <DeleteDialog what="token" name={name} isOpen={isDeleting} onClose={() => setIsDeleting(false)} change={remove}>
        A provider that sends it is refused from then on.
      </DeleteDialog>
    </SidePanel>
  );
}

const AFTERWARDS = [
  { value: 'true', label: 'stay' },
  { value: 'false', label: 'leave' },
] as const;

/** What the members of one group are in one workspace. */
export function MappingPanel({
  mapping,
  group,
  workspace,
  onClose,
}: {
  readonly mapping: ScimMapping;
  readonly group: string;
  readonly workspace: string;
  readonly onClose: () => void;
}): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const [keeps, setKeeps] = useState<(typeof AFTERWARDS)[number]['value']>('true');
  const path = { id: mapping.id };
  const change = useChange((role: ScimMapping['role']) =>
    client.PATCH('/scim/group-mappings/{id}', { params: { path }, body: { role } }),
  );
  const remove = useChange(
    (keepMembers: typeof keeps) =>
      client.DELETE('/scim/group-mappings/{id}', { params: { path, query: { keep_members: keepMembers } } }),
    onClose,
  );
  return (
    <SidePanel title={<Name>{group}</Name>} onClose={onClose}>
      <Section
        title="Mapping"
        actions={<Button icon="trash" aria-label="Delete the mapping" onClick={() => setIsDeleting(true)} />}
      >
        <Facts
          of={[
            ['Workspace', <Name key="workspace">{workspace}</Name>],
            [
              'Role',
              <Segments
                key="role"
                label="Role"
                value={mapping.role}
                options={ROLES}
                onChange={(role) => change.mutate(role)}
              />,
            ],
            ['Made', <Ago key="made" at={mapping.created_at} />],
            ['Changed', <Ago key="changed" at={mapping.updated_at} />],
          ]}
        />
        {change.isError && (
          <p role="alert" className="mt-2 text-bad">
            {change.error.message}
          </p>
        )}
      </Section>
      <FormDialog
        title="Delete mapping"
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        change={remove}
        input={keeps}
        submit="Delete mapping"
        look="danger"
        request={{ method: 'DELETE', path: `/scim/group-mappings/${mapping.id}?keep_members=${keeps}` }}
      >
        <p>The group gives this workspace no members any more. Those that are in it through this mapping alone</p>
        <Segments label="Members" value={keeps} options={AFTERWARDS} onChange={setKeeps} />
      </FormDialog>
    </SidePanel>
  );
}
