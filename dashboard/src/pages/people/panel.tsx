import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import type { Person } from '../../api/lists.ts';
import { useChange } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, To } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Select } from '../../parts/field.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { formatCount } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { labelOf, nameOf } from './columns.tsx';
import type { ShownLink } from './link-once.tsx';
import { useAdminGroup, type Provisioned } from './provisioned.ts';

const ROLES = [
  { value: 'org:member', label: 'member' },
  { value: 'org:admin', label: 'admin' },
] as const;

/** One user: what it is, and what an operator changes about it. */
export function Panel({
  person,
  provisioned,
  onClose,
  onLink,
}: {
  readonly person: Person;
  readonly provisioned: Provisioned | undefined;
  readonly onClose: () => void;
  readonly onLink: (shown: ShownLink) => void;
}): ReactElement {
  const { id, keys, state, sign_in: ways, created_at: createdAt, last_seen_at: seenAt } = person;
  return (
    <SidePanel title={<Name>{labelOf(person)}</Name>} onClose={onClose}>
      <Section title="About">
        <Facts
          of={[
            ['Name', <Name key="name">{nameOf(person) || '–'}</Name>],
            ['Keys that work', formatCount(keys ?? 0)],
            ['Signs in by', ways?.join(', ') || '–'],
            ['Since', <Ago key="since" at={createdAt} />],
            ['Seen', <Ago key="seen" at={seenAt} />],
            ...(provisioned === undefined
              ? []
              : [['Provisioned', <ByProvider key="scim" of={provisioned} />] as const]),
            ['Id', <Id key="id" id={id} length={36} />],
          ]}
        />
      </Section>
      {state === 'named' ? (
        <p className="p-4 text-dim">
          A key, a workspace or a guardrail names this id. It is that of no user, so that it cannot sign in.
        </p>
      ) : (
        <Changes person={person} provisioned={provisioned} onClose={onClose} onLink={onLink} />
      )}
    </SidePanel>
  );
}

/** What the identity provider decides is shown, and changed there. */
function ByProvider({ of: { groups } }: { readonly of: Provisioned }): ReactElement {
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Badge tone="accent">provisioned</Badge> by the identity provider, in {formatCount(groups)}{' '}
      {groups === 1 ? 'group' : 'groups'} <To to="/ui/provisioning">Provisioning</To>
    </span>
  );
}

function Changes({
  person,
  provisioned,
  onClose,
  onLink,
}: {
  readonly person: Person;
  readonly provisioned: Provisioned | undefined;
  readonly onClose: () => void;
  readonly onLink: (shown: ShownLink) => void;
}): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const { id, email, role, state, keys } = person;
  const params = { path: { id } };
  const change = useChange((body: Schemas['UpdateOrganizationMemberRequest']) =>
    client.PATCH('/organization/members/{id}', { params, body }),
  );
  const link = useChange(
    () => client.POST('/organization/members/{id}/password-link', { params }),
    (made) => made !== undefined && onLink({ email, link: made.data.link, days: 1 }),
  );
  const remove = useChange(() => client.DELETE('/organization/members/{id}', { params }), onClose);
  const isDisabled = state === 'disabled';
  const adminGroup = useAdminGroup(provisioned !== undefined);
  /** Made active there alone: the next push would undo it. */
  const isDisabledThere = isDisabled && provisioned?.disabled_by === 'scim';
  const error = change.error ?? link.error;
  return (
    <Section title="Access">
      <div className="flex flex-col items-start gap-3">
        <Select
          label="Role in the organization"
          options={ROLES}
          value={role}
          disabled={adminGroup !== undefined}
          hint={
            adminGroup === undefined
              ? undefined
              : `By the identity provider: members of its group “${adminGroup}” are admins (scim.admin_group).`
          }
          onChange={(next) => change.mutate({ role: next })}
        />
        <Button disabled={change.isPending || isDisabledThere} onClick={() => change.mutate({ disabled: !isDisabled })}>
          {isDisabled ? 'Enable' : 'Disable'}
        </Button>
        <p className="text-xs text-dim">
          {isDisabledThere
            ? 'The identity provider disabled it. Make it active there.'
            : isDisabled
              ? 'Enabled, it can sign in again. Its keys stay disabled until you enable them.'
              : `Disabled, its sessions and its ${formatCount(keys ?? 0)} keys end at once.`}
        </p>
        <Button disabled={isDisabled || link.isPending} onClick={() => link.mutate(undefined)}>
          Link for another password
        </Button>
        <Button icon="trash" onClick={() => setIsDeleting(true)}>
          Remove
        </Button>
        {error !== null && (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
            {error.message}
          </p>
        )}
      </div>
      <DeleteDialog what="user" name={email} isOpen={isDeleting} onClose={() => setIsDeleting(false)} change={remove}>
        Its keys and sessions end at once. What its keys did stays on record, under its id.
      </DeleteDialog>
    </Section>
  );
}
