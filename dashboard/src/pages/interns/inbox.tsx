import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange, useList } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import type { Input, Intern } from './columns.tsx';

const EVERY_MS = 5_000;

/** What waits for a person. Inputs are shown letter by letter, and never as formatted text: a model wrote them. */
export function Inbox({
  workspace,
  interns,
  onRun,
}: {
  readonly workspace: string;
  readonly interns: readonly Intern[];
  readonly onRun: (input: Input) => void;
}): ReactElement {
  const inputs = useList(
    ['intern-inputs', workspace],
    (window, signal) =>
      client.GET('/interns/inputs', {
        signal,
        params: { query: { ...window, ...(workspace !== '' && { workspace_id: workspace }) } },
      }),
    { everyMs: EVERY_MS },
  );
  const names = new Map(interns.map(({ id, name }) => [id, name]));
  return (
    <Load of={inputs}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Nothing waits">
            <p>
              A run waits here before it does something that cannot be undone, unless a rule of its intern allows it.
            </p>
          </Empty>
        ) : (
          <ul aria-label="What waits" className="min-h-0 flex-1 overflow-y-auto">
            {items.map((input) => (
              <Waiting key={input.id} input={input} name={names.get(input.intern_id) ?? ''} onRun={onRun} />
            ))}
          </ul>
        )
      }
    </Load>
  );
}

function Waiting({
  input,
  name,
  onRun,
}: {
  readonly input: Input;
  readonly name: string;
  readonly onRun: (input: Input) => void;
}): ReactElement {
  const [text, setText] = useState('');
  const { id, intern_id: internId, kind, tool, summary, expires_at: expiresAt } = input;
  const answer = useChange((decision: 'allow_once' | 'allow_session' | 'deny') =>
    client.POST('/interns/{internId}/inputs/{inputId}/answer', {
      params: { path: { internId, inputId: id } },
      body: { decision, ...(text !== '' && { text }) },
    }),
  );
  const isPermission = kind === 'permission';
  return (
    <li className="flex flex-col gap-2 border-b border-line bg-surface px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone="warn">{isPermission ? 'approval' : 'question'}</Badge>
        <span className="font-medium">
          <Name>{name}</Name>
        </span>
        <span className="font-mono text-xs">
          <Name>{tool}</Name>
        </span>
        <span className="text-dim">
          expires <Ago at={expiresAt} />
        </span>
      </div>
      <p>
        <Name>{summary}</Name>
      </p>
      <pre
        tabIndex={0}
        aria-label="Input"
        className="max-h-60 overflow-auto rounded-md border border-line bg-hover p-2 font-mono text-xs break-all whitespace-pre-wrap"
      >
        <Name>{input.input}</Name>
      </pre>
      <div className="flex flex-wrap items-end gap-2">
        <div className="min-w-48 flex-1">
          <TextField
            label={isPermission ? 'Reason, for the model (optional)' : 'What the model is to know'}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        {isPermission ? (
          <>
            <Button look="primary" disabled={answer.isPending} onClick={() => answer.mutate('allow_once')}>
              Allow once
            </Button>
            <Button disabled={answer.isPending} onClick={() => answer.mutate('allow_session')}>
              Allow in this session
            </Button>
            <Button look="danger" disabled={answer.isPending} onClick={() => answer.mutate('deny')}>
              Deny
            </Button>
          </>
        ) : (
          <Button look="primary" disabled={answer.isPending || text === ''} onClick={() => answer.mutate('deny')}>
            Answer
          </Button>
        )}
        <Button onClick={() => onRun(input)}>Show the run</Button>
      </div>
      {answer.isError && (
        <p role="alert" className="text-bad">
          {answer.error.message}
        </p>
      )}
    </li>
  );
}
