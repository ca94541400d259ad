import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange, useList } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { TextField } from '../../parts/field.tsx';
import { matches } from '../../parts/filter-box.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Grid } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { reasonOf, USER_COLUMNS, USER_TONES, type PushedUser } from './columns.tsx';
import { Listed, type TabProps } from './tab.tsx';

/** Pushed users, their state and its reason; and the erasure of a person. */
export function Users({ filter, peek, onPeek, onFilter }: TabProps): ReactElement {
  const users = useList(['scim-users'], (window, signal) =>
    client.GET('/scim/users', { signal, params: { query: window } }),
  );
  const found = (users.data?.items ?? []).filter((user) =>
    matches(filter, user.user_name, user.email, user.external_id, user.state, user.id),
  );
  const peeked = found.find(({ id }) => id === peek);
  return (
    <Load of={users}>
      {({ items }) => (
        <Listed
          what="user"
          total={items.length}
          found={found.length}
          filter={filter}
          onFilter={onFilter}
          empty={
            <Empty title="No user was pushed">
              <p>Assign users or groups to the gateway at the provider, and begin its provisioning.</p>
            </Empty>
          }
        >
          <Grid
            label="Users"
            columns={USER_COLUMNS}
            rows={found}
            keyOf={({ id }) => id}
            chosen={peek}
            onPeek={({ id }) => onPeek(id)}
          />
          {peeked !== undefined && <UserPanel key={peeked.id} user={peeked} onClose={() => onPeek(undefined)} />}
        </Listed>
      )}
    </Load>
  );
}

function UserPanel({ user, onClose }: { readonly user: PushedUser; readonly onClose: () => void }): ReactElement {
  const [isErasing, setIsErasing] = useState(false);
  const { id, user_name: name, email, external_id: externalId, state } = user;
  return (
    <SidePanel title={<Name>{name}</Name>} onClose={onClose}>
      <Section
        title="User"
        actions={
          state !== 'deleted' && (
            <LinkButton to="/ui/people" search={{ peek: id }}>
              Rights and keys
            </LinkButton>
          )
        }
      >
        <Facts
          of={[
            [
              'State',
              <Badge key="state" tone={USER_TONES[state]}>
                {state}
              </Badge>,
            ],
            ['Because', reasonOf(user)],
            ['Mail', <Name key="mail">{email}</Name>],
            ['Groups', formatCount(user.groups)],
            ['At the provider', externalId === null ? 'unknown' : <Name key="external">{externalId}</Name>],
            ['Id', <Id key="id" id={id} length={36} />],
            ['Pushed first', <Ago key="first" at={user.created_at} />],
            ['Pushed last', <Ago key="last" at={user.updated_at} />],
            ...(user.deleted_at === null
              ? []
              : [['Deleted there', <Ago key="deleted" at={user.deleted_at} />] as const]),
          ]}
        />
      </Section>
      <Section title="Erase the person">
        <div className="flex flex-col items-start gap-2">
          <p className="text-dim">
            Name, address and what the provider said of the person are deleted here. Its records keep the id alone.
          </p>
          <Button icon="trash" onClick={() => setIsErasing(true)}>
            Erase
          </Button>
        </div>
      </Section>
      <EraseDialog
        key={String(isErasing)}
        user={user}
        isOpen={isErasing}
        onDone={onClose}
        onClose={() => setIsErasing(false)}
      />
    </SidePanel>
  );
}

/** There is no way back, so the name is typed. */
function EraseDialog({
  user: { id, user_name: name, state },
  isOpen,
  onDone,
  onClose,
}: {
  readonly user: PushedUser;
  readonly isOpen: boolean;
  readonly onDone: () => void;
  readonly onClose: () => void;
}): ReactElement {
  const [typed, setTyped] = useState('');
  const erase = useChange(() => client.DELETE('/organization/members/{id}', { params: { path: { id } } }), onDone);
  return (
    <FormDialog
      title="Erase a person"
      isOpen={isOpen}
      onClose={onClose}
      change={erase}
      input={undefined}
      submit="Erase the person"
      isReady={typed === name}
      look="danger"
      request={{ method: 'DELETE', path: `/organization/members/${id}` }}
    >
      <p>This cannot be undone. Keys, sessions and memberships end at once, and no group knows the person any more.</p>
      {state !== 'deleted' && (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          The provider still has this user. Take the person out of its assignment first: it would push a new user.
        </p>
      )}
      <TextField
        label={`Type “${name}” to erase the person`}
        value={typed}
        autoFocus
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
      />
    </FormDialog>
  );
}
