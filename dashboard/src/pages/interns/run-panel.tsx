import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Load } from '../../parts/states.tsx';
import { Ago, Money, Name } from '../../parts/text.tsx';
import { formatState, RUN_TONES, STEP_TONES, type Run, type Step } from './columns.tsx';

const EVERY_MS = 2_000;
const OVER: readonly string[] = ['done', 'failed', 'cancelled', 'expired'];

/** The story of a run: each call of the model and of a tool, what it cost, and the way to stop it. */
export function RunPanel({
  internId,
  runId,
  onClose,
}: {
  readonly internId: string;
  readonly runId: string;
  readonly onClose: () => void;
}): ReactElement {
  const params = { path: { internId, runId } };
  const run = useRead(
    ['intern-run', runId],
    (signal) => client.GET('/interns/{internId}/runs/{runId}', { signal, params }),
    { everyMs: EVERY_MS },
  );
  const steps = useRead(
    ['intern-steps', runId],
    (signal) => client.GET('/interns/{internId}/runs/{runId}/steps', { signal, params }),
    { everyMs: EVERY_MS },
  );
  const cancel = useChange(() => client.POST('/interns/{internId}/runs/{runId}/cancel', { params }));
  const state = run.data?.data.state;
  const isOpen = state !== undefined && !OVER.includes(state);
  return (
    <SidePanel title={`Run ${runId.slice(0, 8)}`} onClose={onClose}>
      <Section
        title="Run"
        actions={
          isOpen && (
            <Button icon="stop" look="danger" disabled={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
              Stop the run
            </Button>
          )
        }
      >
        <Load of={run} rows={4}>
          {({ data }) => <Facts of={factsOf(data)} />}
        </Load>
        {cancel.isError && (
          <p role="alert" className="mt-2 text-bad">
            {cancel.error.message}
          </p>
        )}
      </Section>
      <Section title="Steps">
        <Load of={steps} rows={6}>
          {({ data }) => (
            <ol className="flex flex-col gap-3">
              {data.map((step) => (
                <StepItem key={step.n} step={step} />
              ))}
            </ol>
          )}
        </Load>
      </Section>
    </SidePanel>
  );
}

function factsOf(run: Run): Parameters<typeof Facts>[0]['of'] {
  const { state, ending, error, spent_usd: spent, trigger, session_id: session } = run;
  return [
    [
      'State',
      <Badge key="state" tone={RUN_TONES[state]}>
        {formatState(state)}
      </Badge>,
    ],
    ...(ending === null || ending === 'stop' ? [] : [['Ended by', `its limit: ${ending}`] as const]),
    ...(error === null ? [] : [['Failure', <Name key="failure">{error}</Name>] as const]),
    ['Cost', <Money key="cost" usd={spent} />],
    ['Begun by', trigger],
    ['Session', <Name key="session">{session}</Name>],
    ['Version of the intern', String(run.version)],
    ['Begun', <Ago key="begun" at={run.created_at} />],
    ['Over', run.finished_at === null ? 'not yet' : <Ago key="over" at={run.finished_at} />],
  ];
}

function StepItem({ step }: { readonly step: Step }): ReactElement {
  const { n, kind, name, state, cost_usd: cost, input, output, generation_id: generation, attempts } = step;
  return (
    <li className="flex flex-col gap-1.5 rounded-md border border-line p-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="text-dim">{n}</span>
        <Badge>{kind}</Badge>
        <span className="min-w-0 font-mono text-xs break-all">
          <Name>{name === '' ? 'the default model' : name}</Name>
        </span>
        <Badge tone={STEP_TONES[state]}>{state}</Badge>
        {cost > 0 && <Money usd={cost} />}
        {attempts > 1 && <span className="text-dim">begun {attempts} times</span>}
      </div>
      {input !== null && <CodeBlock label={`Input of step ${n}`} text={input} isWrapped />}
      {output !== null && <CodeBlock label={`Output of step ${n}`} text={outputOf(step)} isWrapped />}
      {generation !== null && (
        <a href={`/ui/requests/${encodeURIComponent(generation)}`} className="text-xs text-accent">
          Its generation
        </a>
      )}
    </li>
  );
}

/** Of the model its texts and calls, one a line; of a tool what it said. */
function outputOf({ kind, output }: Step): string {
  if (kind === 'tool' || output === null) return output ?? '';
  const blocks: unknown = JSON.parse(output);
  return Array.isArray(blocks) ? blocks.map(lineOf).join('\n') : output;
}

function lineOf({ type, name, input, text }: Readonly<Record<string, unknown>>): string {
  if (type === 'tool-call') return `calls ${String(name)} ${String(input)}`;
  return typeof text === 'string' ? text : `(${String(type)})`;
}
