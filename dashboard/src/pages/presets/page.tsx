import { useNavigate } from '@tanstack/react-router';
import { type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useList } from '../../api/read.ts';
import { LinkButton } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { formatListCount } from '../../parts/money.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { toSnippet } from '../../parts/snippets.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { PRESET_COLUMNS } from './columns.tsx';
import { parsePresetsSearch } from './search.ts';

const EXAMPLE = JSON.stringify({
  model: 'sandbox/echo',
  temperature: 0.2,
  messages: [{ role: 'system', content: 'Sum up in three sentences.' }],
});

/** One place to change what a team uses. */
export function Page(): ReactElement {
  const [{ filter }, change] = useSearchState(parsePresetsSearch);
  const presets = useList(['presets'], (window, signal) =>
    client.GET('/presets', { signal, params: { query: window } }),
  );
  const navigate = useNavigate();
  const setFilter = (q: string): void => change({ q }, false);
  const found = (presets.data?.items ?? []).filter(({ slug, name, description }) =>
    matches(filter, slug, name, description),
  );
  return (
    <Frame
      title="Presets"
      isFilled
      lead={presets.data === undefined ? undefined : formatListCount(presets.data)}
      bar={<FilterBox value={filter} onChange={setFilter} placeholder="summaries" label="Filter presets" />}
    >
      <Load of={presets}>
        {({ items }) =>
          found.length > 0 ? (
            <Grid
              label="Presets"
              columns={PRESET_COLUMNS}
              rows={found}
              keyOf={({ id }) => id}
              onOpen={({ slug }) => void navigate({ to: `/ui/presets/${slug}` })}
            />
          ) : items.length > 0 ? (
            <NothingMatches what="preset" filters={[{ name: filter, onDrop: () => change({ q: undefined }) }]} />
          ) : (
            <Empty title="No preset yet" action={<LinkButton to="/ui/playground">Open the playground</LinkButton>}>
              <p>
                A preset holds a model, a system prompt and settings under one name: programs name “@preset/summaries”,
                and you change it here, in versions.
              </p>
              <CodeBlock
                label="The first version of a preset"
                text={toSnippet(
                  { method: 'POST', path: '/presets/summaries/chat/completions', body: EXAMPLE },
                  'curl',
                  location.origin,
                )}
              />
            </Empty>
          )
        }
      </Load>
    </Frame>
  );
}
