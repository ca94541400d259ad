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
import { RUN_COLUMNS } from './columns.tsx';
import { NewRun } from './new-run.tsx';
import { RunPanel } from './panel.tsx';
import { parseEvaluationsSearch } from './search.ts';

const EVERY_MS = 3_000;

/** Benchmark runs over the operator's own questions. */
export function Page(): ReactElement {
  const [{ peek, isNew }, change] = useSearchState(parseEvaluationsSearch);
  const runs = useList(
    ['evaluation-runs'],
    (window, signal) => client.GET('/benchmarks/runs', { signal, params: { query: window } }),
    { everyMs: EVERY_MS },
  );
  useHotkeys({ n: () => change({ new: 'true' }) });
  const create = (
    <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
      New run
    </Button>
  );
  const peeked = runs.data?.items.find(({ id }) => id === peek);
  return (
    <Frame
      title="Evaluations"
      isFilled
      lead={runs.data === undefined ? undefined : formatListCount(runs.data)}
      actions={create}
    >
      <Load of={runs}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No model was tried on your questions" action={create}>
              <p>
                A run puts the questions of a file to several models, scores their answers, and says how sure the result
                is. A key pays, and the cost has a cap.
              </p>
            </Empty>
          ) : (
            <div className="flex min-h-0 flex-1">
              <Grid
                label="Runs"
                columns={RUN_COLUMNS}
                rows={items}
                keyOf={({ id }) => id}
                chosen={peek}
                onPeek={({ id }) => change({ peek: id }, false)}
              />
              {peeked !== undefined && (
                <RunPanel key={peeked.id} run={peeked} onClose={() => change({ peek: undefined }, false)} />
              )}
            </div>
          )
        }
      </Load>
      <NewRun
        key={String(isNew)}
        isOpen={isNew}
        onClose={() => change({ new: undefined }, false)}
        onBegun={(id) => change({ new: undefined, peek: id }, false)}
      />
    </Frame>
  );
}
