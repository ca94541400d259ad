import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useList } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatListCount } from '../../parts/money.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { CLASSIFIER_COLUMNS } from './columns.tsx';
import { NewClassifier } from './new-classifier.tsx';
import { Panel } from './panel.tsx';
import { parseClassifiersSearch } from './search.ts';

const EVERY_MS = 15_000;

/** What sorts the conversations of workspaces after their end. */
export function Page(): ReactElement {
  const [{ peek, isNew }, change] = useSearchState(parseClassifiersSearch);
  const classifiers = useList(
    ['classifiers'],
    (window, signal) => client.GET('/classifiers', { signal, params: { query: window } }),
    { everyMs: EVERY_MS },
  );
  useHotkeys({ n: () => change({ new: 'true' }) });
  const create = (
    <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
      New classifier
    </Button>
  );
  const peeked = classifiers.data?.items.find(({ id }) => id === peek);
  return (
    <Frame
      title="Classifiers"
      isFilled
      lead={classifiers.data === undefined ? undefined : formatListCount(classifiers.data)}
      actions={create}
    >
      <Load of={classifiers}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No conversation is sorted" action={create}>
              <p>
                A classifier has a model read a sample of the conversations of a workspace after their end, and tags
                them: by department, by kind of work, or by dimensions of your own. A key pays, and the cost of a day
                has a limit.
              </p>
            </Empty>
          ) : (
            <div className="flex min-h-0 flex-1">
              <Grid
                label="Classifiers"
                columns={CLASSIFIER_COLUMNS}
                rows={items}
                keyOf={({ id }) => id}
                chosen={peek}
                onPeek={({ id }) => change({ peek: id }, false)}
              />
              {peeked !== undefined && (
                <Panel key={peeked.id} classifier={peeked} onClose={() => change({ peek: undefined }, false)} />
              )}
            </div>
          )
        }
      </Load>
      <NewClassifier key={String(isNew)} isOpen={isNew} onClose={() => change({ new: undefined }, false)} />
    </Frame>
  );
}
