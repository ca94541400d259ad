import type { ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Grid, type Column } from '../../parts/grid.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';

type Task = Schemas['TaskClassifications']['classifications'][number];

const MODELS_SHOWN = 3;

/** Tasks of requests, as routers classify them, and the models that served them. */
export function RoutersTab(): ReactElement {
  const tasks = useRead(['classifications'], (signal) =>
    client.GET('/classifications/task', { signal, params: { query: {} } }),
  );
  return (
    <Load of={tasks}>
      {({ data: { classifications, window_days: days, as_of: day } }) =>
        classifications.length === 0 ? (
          <Empty title="No router decided yet">
            <p>
              Send a request to <code className="font-mono text-xs">service/auto</code>: its task and the model that the
              router chose are here, and their share of what was spent.
            </p>
          </Empty>
        ) : (
          <>
            <p className="border-b border-line px-4 py-1 text-dim">
              The last {days} days, as of {day}.
            </p>
            <Grid label="Tasks" columns={COLUMNS} rows={classifications} keyOf={({ tag }) => tag} />
          </>
        )
      }
    </Load>
  );
}

const percent = (share: number): ReactElement => (
  <span className="font-mono text-xs">{`${(share * 100).toFixed(1)} %`}</span>
);

const COLUMNS: readonly Column<Task>[] = [
  { id: 'task', title: 'Task', width: 170, grows: true, cell: ({ display_name: name }) => <Name>{name}</Name> },
  { id: 'kind', title: 'Of', width: 90, cell: ({ macro_category: kind }) => <span className="text-dim">{kind}</span> },
  { id: 'usage', title: 'Of spend', width: 90, align: 'right', cell: ({ usage_share: share }) => percent(share) },
  { id: 'tokens', title: 'Of tokens', width: 90, align: 'right', cell: ({ token_share: share }) => percent(share) },
  {
    id: 'models',
    title: 'Served by',
    width: 320,
    grows: true,
    cell: ({ models }) => (
      <Name>
        {models
          .slice(0, MODELS_SHOWN)
          .map(({ id, tag_usage_share: share }) => `${id} ${(share * 100).toFixed(0)} %`)
          .join(', ')}
      </Name>
    ),
  },
];
