import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { usePeople, type Person } from '../../api/lists.ts';
import { useConsole } from '../../api/session.ts';
import { signInQuery } from '../../api/sign-in.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatListCount } from '../../parts/money.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { NAMED_COLUMNS, userColumns } from './columns.tsx';
import { Invitations } from './invitations.tsx';
import { Invite } from './invite.tsx';
import { LinkOnce, type ShownLink } from './link-once.tsx';
import { Panel } from './panel.tsx';
import { useProvisioned } from './provisioned.ts';
import { parsePeopleSearch } from './search.ts';

/** Users, their roles, and invitations. */
export function Page(): ReactElement {
  const [{ filter, peek, isNew }, change] = useSearchState(parsePeopleSearch);
  const [shown, setShown] = useState<ShownLink>();
  const { data: ways } = useQuery(signInQuery);
  const { isOperator } = useConsole();
  const people = usePeople();
  const hasUsers = ways?.hasUsers === true;
  const isManaged = hasUsers && isOperator;
  const provisioned = useProvisioned(isManaged);
  useHotkeys(isManaged ? { n: () => change({ new: 'true' }) } : {});
  const setFilter = (q: string): void => change({ q }, false);
  const found = (people.data?.items ?? []).filter((person) =>
    matches(
      filter,
      person.email,
      person.id,
      person.first_name,
      person.last_name,
      person.role,
      person.state,
      provisioned.has(person.id) ? 'provisioned' : undefined,
    ),
  );
  const peeked = isManaged ? found.find(({ id }) => id === peek) : undefined;
  return (
    <Frame
      title="People"
      isFilled
      lead={people.data === undefined ? undefined : formatListCount(people.data)}
      bar={
        (people.data?.items.length ?? 0) > 0 || filter !== '' ? (
          <FilterBox value={filter} onChange={setFilter} placeholder="ann@" label="Filter people" />
        ) : undefined
      }
      actions={
        isManaged ? (
          <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
            Invite
          </Button>
        ) : undefined
      }
    >
      {isManaged && <Invitations onLink={setShown} />}
      <Load of={people}>
        {({ items }) =>
          found.length > 0 ? (
            <div className="flex min-h-0 flex-1">
              <Grid
                label="People"
                columns={hasUsers ? userColumns(provisioned) : NAMED_COLUMNS}
                rows={found}
                keyOf={({ id }) => id}
                chosen={peeked?.id}
                {...(isManaged && { onPeek: ({ id }: Person) => change({ peek: id }, false) })}
              />
              {peeked !== undefined && (
                <Panel
                  key={peeked.id}
                  person={peeked}
                  provisioned={provisioned.get(peeked.id)}
                  onClose={() => change({ peek: undefined }, false)}
                  onLink={setShown}
                />
              )}
            </div>
          ) : items.length > 0 ? (
            <NothingMatches what="person" filters={[{ name: filter, onDrop: () => change({ q: undefined }) }]} />
          ) : (
            <NoUsers hasUsers={hasUsers} />
          )
        }
      </Load>
      <Invite
        key={String(isNew)}
        isOpen={isNew && isManaged}
        onClose={() => change({ new: undefined }, false)}
        onLink={setShown}
      />
      <LinkOnce shown={shown} onClose={() => setShown(undefined)} />
    </Frame>
  );
}

function NoUsers({ hasUsers }: { readonly hasUsers: boolean }): ReactElement {
  if (hasUsers)
    return (
      <Empty title="No user yet">
        <p>Invite the first one: it becomes a user by a link that you hand over.</p>
      </Empty>
    );
  return (
    <Empty title="Only keys so far" action={<LinkButton to="/ui/keys">Keys</LinkButton>}>
      <p>
        People are the owners that keys name, and the members of workspaces. With{' '}
        <code className="font-mono text-xs">organization: {'{ enabled: true }'}</code> in the configuration they sign in
        as users.
      </p>
    </Empty>
  );
}
