import { useCallback, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { asApiError } from '../../api/errors.ts';
import { useList } from '../../api/read.ts';
import { LinkButton } from '../../parts/button.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { formatListCount } from '../../parts/money.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { PEOPLE_COLUMNS } from './columns.tsx';
import { parsePeopleSearch } from './search.ts';

/** Users and their roles. */
export function Page(): ReactElement {
  const [{ filter }, change] = useSearchState(parsePeopleSearch);
  const people = useList(['people'], async (window, signal) => {
    try {
      return await client.GET('/organization/members', { signal, params: { query: window } });
    } catch (error) {
      // The gateway has no list before a key or a workspace names a user.
      if (asApiError(error).status === 404) return { data: { data: [] } };
      throw error;
    }
  });
  const setFilter = useCallback((q: string) => change({ q }, false), [change]);
  const found = (people.data?.items ?? []).filter(({ email, id, first_name: first, last_name: last }) =>
    matches(filter, email, id, first, last),
  );
  return (
    <Frame
      title="People"
      isFilled
      lead={people.data === undefined ? undefined : formatListCount(people.data)}
      bar={<FilterBox value={filter} onChange={setFilter} placeholder="ann@" label="Filter people" />}
    >
      <Load of={people}>
        {({ items }) =>
          found.length > 0 ? (
            <Grid label="People" columns={PEOPLE_COLUMNS} rows={found} keyOf={({ id }) => id} />
          ) : items.length > 0 ? (
            <NothingMatches what="person" filters={[{ name: filter, onDrop: () => change({ q: undefined }) }]} />
          ) : (
            <Empty title="Only keys so far" action={<LinkButton to="/ui/keys">Keys</LinkButton>}>
              <p>People are the owners that keys name, and the members of workspaces.</p>
            </Empty>
          )
        }
      </Load>
    </Frame>
  );
}
