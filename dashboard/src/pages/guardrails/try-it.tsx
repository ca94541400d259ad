import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Segments, TextArea } from '../../parts/field.tsx';

const SIDES = [
  { value: 'request', label: 'in a request' },
  { value: 'answer', label: 'in a response' },
] as const;
const TONES: Readonly<Record<Schemas['GuardrailTestResult']['outcome'], Tone>> = {
  passed: 'good',
  flagged: 'warn',
  redacted: 'warn',
  blocked: 'bad',
};

/** Tries a text: nothing of it is kept. */
export function TryIt({ id }: { readonly id: string }): ReactElement {
  const [text, setText] = useState('Write to ann@example.com about project-12');
  const [side, setSide] = useState<'request' | 'answer'>('request');
  const [result, setResult] = useState<Schemas['GuardrailTestResult']>();
  const test = useChange(
    (body: Schemas['TestGuardrailRequest']) => client.POST('/guardrails/{id}/test', { params: { path: { id } }, body }),
    (response) => setResult(response?.data),
  );
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        test.mutate({ text, side });
      }}
    >
      <TextArea
        label="A text"
        rows={3}
        value={text}
        error={test.error?.message}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="flex items-center gap-2">
        <Segments label="Where" value={side} options={SIDES} onChange={setSide} />
        <Button type="submit" look="primary" disabled={test.isPending || text === ''}>
          Try
        </Button>
      </div>
      <div aria-live="polite">
        {result !== undefined && (
          <div className="flex flex-col gap-2 rounded-md border border-line p-3">
            <p>
              <Badge tone={TONES[result.outcome]}>{result.outcome}</Badge>
            </p>
            {result.text !== null && <p className="font-mono text-xs whitespace-pre-wrap">{result.text}</p>}
            {result.findings.map(({ filter, action, patterns }) => (
              <p key={filter} className="text-dim">
                {filter}: {action} {patterns.join(', ')}
              </p>
            ))}
            {[...result.warnings, ...result.late.map((name) => `${name} was not searched for in time.`)].map(
              (warning) => (
                <p key={warning} className="text-warn">
                  {warning}
                </p>
              ),
            )}
          </div>
        )}
      </div>
    </form>
  );
}
