import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Badge, Meter } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { formatCount, formatUsd } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { isUnderWay, stateOf, toneOf, type Run } from './columns.tsx';
import { Comparisons, Results } from './results.tsx';

const EVERY_MS = 2_000;

/** One run: how far it is, what it says of each model, and which differences it shows. */
export function RunPanel({ run, onClose }: { readonly run: Run; readonly onClose: () => void }): ReactElement {
  const { id, state, units, units_done: done } = run;
  const found = useRead(
    ['evaluation-run', id, state, done],
    (signal) => client.GET('/benchmarks/runs/{id}', { signal, params: { path: { id } } }),
    isUnderWay(run) ? { everyMs: EVERY_MS } : {},
  );
  return (
    <SidePanel title={<Name>{run.name ?? run.dataset}</Name>} onClose={onClose}>
      <Section title="Progress" actions={<Steps run={run} onClose={onClose} />}>
        <Facts
          of={[
            [
              'State',
              <Badge key="state" tone={toneOf(run)}>
                {stateOf(run)}
              </Badge>,
            ],
            [
              'Answers',
              <span key="answers" className="inline-flex items-center gap-2">
                <Meter used={done} limit={units} label="Answers of this run" isProgress />
                {formatCount(done)} of {formatCount(units)}
              </span>,
            ],
            ['Cost', `${formatUsd(run.spent_usd)} of ${formatUsd(run.max_cost_usd)} at most`],
            ['Dataset', <Name key="dataset">{`${run.dataset} ${run.dataset_sha256.slice(0, 8)}`}</Name>],
            ['Judge', run.settings.judge === null ? 'none' : <Name key="judge">{run.settings.judge.model}</Name>],
            ...(run.settings.judge?.reference_model === undefined
              ? []
              : [['Against', <Name key="reference">{run.settings.judge.reference_model}</Name>] as const]),
          ]}
        />
        {run.error !== null && run.error !== '' && <p className="mt-2 text-bad">{run.error}</p>}
      </Section>
      <Section title="Results" isFlush>
        <Load of={found}>{({ results }) => <Results of={results} />}</Load>
      </Section>
      {run.models.length > 1 && done > 0 && !isUnderWay(run) && <Differences id={id} done={done} />}
    </SidePanel>
  );
}

function Differences({ id, done }: { readonly id: string; readonly done: number }): ReactElement {
  const compared = useRead(['evaluation-comparison', id, done], (signal) =>
    client.GET('/benchmarks/compare', { signal, params: { query: { a: id, b: id } } }),
  );
  return (
    <Section title="Differences">
      <Load of={compared}>{({ data }) => <Comparisons of={data} />}</Load>
    </Section>
  );
}

type Step = 'pause' | 'resume' | 'cancel';

function Steps({ run, onClose }: { readonly run: Run; readonly onClose: () => void }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const params = { path: { id: run.id } };
  const step = useChange((to: Step) => {
    if (to === 'pause') return client.POST('/benchmarks/runs/{id}/pause', { params });
    if (to === 'resume') return client.POST('/benchmarks/runs/{id}/resume', { params });
    return client.POST('/benchmarks/runs/{id}/cancel', { params });
  });
  const publish = useChange(() => client.POST('/benchmarks/runs/{id}/publish', { params }));
  const remove = useChange(() => client.DELETE('/benchmarks/runs/{id}', { params }), onClose);
  const error = step.error ?? publish.error;
  const buttons: readonly (readonly [Step, string])[] = isUnderWay(run)
    ? [
        ['pause', 'Pause'],
        ['cancel', 'Cancel the run'],
      ]
    : run.state === 'paused' || run.state === 'failed'
      ? [['resume', 'Resume']]
      : [];
  return (
    <>
      {buttons.map(([to, label]) => (
        <Button key={to} disabled={step.isPending} onClick={() => step.mutate(to)}>
          {label}
        </Button>
      ))}
      {run.state === 'done' && (
        <Button disabled={publish.isPending} onClick={() => publish.mutate(undefined)}>
          {publish.isSuccess ? 'Published' : 'Publish'}
        </Button>
      )}
      {!isUnderWay(run) && <Button icon="trash" aria-label="Delete the run" onClick={() => setOpen(true)} />}
      {error !== null && (
        <p role="alert" className="text-bad">
          {error.message}
        </p>
      )}
      <DeleteDialog
        what="run"
        name={run.name ?? run.dataset}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        change={remove}
      >
        Its results are deleted, and what was published of it is taken out of the catalog.
      </DeleteDialog>
    </>
  );
}
