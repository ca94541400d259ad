import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Load } from '../../parts/states.tsx';
import { Ago, Money, Name } from '../../parts/text.tsx';
import { formatState, RUN_TONES, type Intern } from './columns.tsx';
import { MemorySection } from './memory-section.tsx';
import { SchedulesSection } from './schedules-section.tsx';

const RUNS = 50;
const EVERY_MS = 5_000;

/** One intern: whether it runs, what it may spend, and its runs. */
export function InternPanel({
  intern,
  onRun,
  onClose,
}: {
  readonly intern: Intern;
  readonly onRun: (id: string) => void;
  readonly onClose: () => void;
}): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const { id, name, status } = intern;
  const params = { path: { internId: id } };
  const runs = useRead(
    ['intern-runs', id],
    (signal) =>
      client.GET('/interns/{internId}/runs', { signal, params: { ...params, query: { offset: 0, limit: RUNS } } }),
    { everyMs: EVERY_MS },
  );
  const provision = useChange(() => client.POST('/interns/{internId}/provision', { params }));
  const suspend = useChange(() => client.POST('/interns/{internId}/suspend', { params }));
  const remove = useChange(() => client.DELETE('/interns/{internId}', { params }), onClose);
  const error = provision.error ?? suspend.error;
  return (
    <SidePanel title={<Name>{name}</Name>} onClose={onClose}>
      <Section
        title="Intern"
        actions={
          <>
            {status === 'running' ? (
              <Button icon="pause" disabled={suspend.isPending} onClick={() => suspend.mutate(undefined)}>
                Suspend
              </Button>
            ) : (
              <Button icon="play" disabled={provision.isPending} onClick={() => provision.mutate(undefined)}>
                Provision
              </Button>
            )}
            <Button icon="trash" aria-label="Delete the intern" onClick={() => setIsDeleting(true)} />
          </>
        }
      >
        <Facts of={factsOf(intern)} />
        {error !== null && (
          <p role="alert" className="mt-2 text-bad">
            {error.message}
          </p>
        )}
      </Section>
      {intern.memory.enabled && <MemorySection intern={intern} />}
      <SchedulesSection intern={intern} />
      <Section title="Runs">
        <Load of={runs} rows={4}>
          {({ data }) =>
            data.length === 0 ? (
              <p className="text-dim">None yet: a message to its chat begins one.</p>
            ) : (
              <ul className="flex flex-col gap-1">
                {data.map((run) => (
                  <li key={run.id}>
                    <button
                      type="button"
                      onClick={() => onRun(run.id)}
                      className="flex w-full flex-wrap items-center gap-2 rounded px-1 py-1 text-left hover:bg-hover"
                    >
                      <Badge tone={RUN_TONES[run.state]}>{formatState(run.state)}</Badge>
                      <span className="font-mono text-xs">{run.id.slice(0, 8)}</span>
                      <span className="text-dim">{run.step === 1 ? '1 step' : `${run.step} steps`}</span>
                      <Money usd={run.spent_usd} />
                      <span className="ml-auto">
                        <Ago at={run.created_at} />
                      </span>
                    </button>
                  </li>
                ))}
              </ul>
            )
          }
        </Load>
      </Section>
      <DeleteDialog what="intern" name={name} isOpen={isDeleting} onClose={() => setIsDeleting(false)} change={remove}>
        Its runs are cancelled, and its sessions and their texts are deleted.
      </DeleteDialog>
    </SidePanel>
  );
}

function factsOf(intern: Intern): Parameters<typeof Facts>[0]['of'] {
  const { model, tools, budget, limits, approval, lastFailureMessage, instructions, version } = intern;
  return [
    ['Status', formatState(intern.status)],
    ...(lastFailureMessage === null
      ? []
      : [['Last failure', <Name key="failure">{lastFailureMessage}</Name>] as const]),
    ['Model', <Name key="model">{model ?? 'the default'}</Name>],
    ['Tools', <Name key="tools">{tools.map(({ type }) => type).join(', ') || 'none'}</Name>],
    [
      'Budget',
      <span key="budget">
        <Money usd={budget.limit_usd} places={2} /> {budget.interval}, <Money usd={budget.per_run_usd} places={2} /> a
        run
      </span>,
    ],
    ['Limits', `${limits.max_steps} steps, ${limits.max_minutes} minutes, ${limits.max_concurrent_runs} at a time`],
    ['Approval', approval.mode === 'manual' ? `by a person, ${approval.rules.length} rules` : 'none: self-drive'],
    ['Version', String(version)],
    [
      'Instructions',
      <span key="instructions" className="whitespace-pre-wrap">
        <Name>{instructions === '' ? 'none' : instructions}</Name>
      </span>,
    ],
  ];
}
