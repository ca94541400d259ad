import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange, useList } from '../../api/read.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { Grid } from '../../parts/grid.tsx';
import { formatBytes, formatCount } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { DATASET_COLUMNS, type Dataset } from './columns.tsx';

/** Files of questions that evaluations put to models. */
export function Questions({
  peek,
  create,
  onPeek,
}: {
  readonly peek: string;
  readonly create: ReactElement;
  readonly onPeek: (id: string | undefined) => void;
}): ReactElement {
  const datasets = useList(['evaluation-datasets'], (window, signal) =>
    client.GET('/benchmarks/datasets', { signal, params: { query: window } }),
  );
  const peeked = datasets.data?.items.find(({ id }) => id === peek);
  return (
    <Load of={datasets}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No dataset is stored" action={create}>
            <p>
              A dataset is a file with one question a line, as JSON: prompt, and what is expected. Evaluations put it to
              models.
            </p>
          </Empty>
        ) : (
          <div className="flex min-h-0 flex-1">
            <Grid
              label="Datasets"
              columns={DATASET_COLUMNS}
              rows={items}
              keyOf={({ id }) => id}
              chosen={peek}
              onPeek={({ id }) => onPeek(id)}
            />
            {peeked !== undefined && (
              <DatasetPanel key={peeked.id} dataset={peeked} onClose={() => onPeek(undefined)} />
            )}
          </div>
        )
      }
    </Load>
  );
}

function DatasetPanel({ dataset, onClose }: { readonly dataset: Dataset; readonly onClose: () => void }): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const { id, name, items, judged_items: judged, license, citation } = dataset;
  const remove = useChange(() => client.DELETE('/benchmarks/datasets/{id}', { params: { path: { id } } }), onClose);
  return (
    <SidePanel title={<Name>{name}</Name>} onClose={onClose}>
      <Section
        title="Dataset"
        actions={
          <>
            <LinkButton to="/ui/evaluations" search={{ new: 'true' }}>
              New run
            </LinkButton>
            <Button icon="trash" aria-label="Delete the dataset" onClick={() => setIsDeleting(true)} />
          </>
        }
      >
        <Facts
          of={[
            ['Questions', formatCount(items)],
            ['For a judge', formatCount(judged)],
            ['Size', formatBytes(dataset.size_bytes)],
            ['SHA-256', <Id key="sha256" id={dataset.sha256} length={24} />],
            ['License', <Name key="license">{license ?? 'none named'}</Name>],
            ['Citation', <Name key="citation">{citation ?? 'none named'}</Name>],
            ['Stored', <Ago key="stored" at={dataset.created_at} />],
            ['Id', <Id key="id" id={id} length={36} />],
          ]}
        />
      </Section>
      <DeleteDialog what="dataset" name={name} isOpen={isDeleting} onClose={() => setIsDeleting(false)} change={remove}>
        Results of its runs stay; it cannot be deleted while one is under way.
      </DeleteDialog>
    </SidePanel>
  );
}
