import type { ReactElement } from 'react';
import { client, type ItemOf, type Schemas } from '../../api/client.ts';
import { useChange, useList } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { Section } from '../../parts/page.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { INVITATION_DAYS } from './invite.tsx';
import type { ShownLink } from './link-once.tsx';

type Invitation = ItemOf<Schemas['ListOrganizationInvitationsResponse']>;

/** Those that were invited and have not come yet. */
export function Invitations({ onLink }: { readonly onLink: (shown: ShownLink) => void }): ReactElement | undefined {
  const invitations = useList(['invitations'], (window, signal) =>
    client.GET('/organization/invitations', { signal, params: { query: window } }),
  );
  const items = invitations.data?.items ?? [];
  if (items.length === 0) return undefined;
  return (
    <Section title="Invited">
      <ul className="divide-y divide-line">
        {items.map((invitation) => (
          <Row key={invitation.id} invitation={invitation} onLink={onLink} />
        ))}
      </ul>
    </Section>
  );
}

function Row({
  invitation: { id, email, role, invited_by: by, expires_at: end },
  onLink,
}: {
  readonly invitation: Invitation;
  readonly onLink: (shown: ShownLink) => void;
}): ReactElement {
  const params = { path: { id } };
  const renew = useChange(
    () => client.POST('/organization/invitations/{id}/link', { params }),
    (made) => made !== undefined && onLink({ email, link: made.link, days: INVITATION_DAYS }),
  );
  const withdraw = useChange(() => client.DELETE('/organization/invitations/{id}', { params }));
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-3">
      <span className="font-medium">
        <Name>{email}</Name>
      </span>
      {role === 'org:admin' && <span className="text-dim">admin</span>}
      <span className="min-w-0 flex-1 truncate text-dim">
        by <Name>{by}</Name>, ends <Ago at={end} />
      </span>
      <Button disabled={renew.isPending} onClick={() => renew.mutate(undefined)} aria-label={`New link for ${email}`}>
        New link
      </Button>
      <Button
        disabled={withdraw.isPending}
        onClick={() => withdraw.mutate(undefined)}
        aria-label={`Withdraw the invitation of ${email}`}
      >
        Withdraw
      </Button>
    </li>
  );
}
