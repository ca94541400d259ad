import { useState, type ReactElement } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useCall } from '../../api/read.ts';
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

type Trial = Schemas['TestGuardrailRequest'];
type Result = Schemas['GuardrailTestResult'];

/** Tries a text on rules, stored or not: nothing of it is kept. */
export function TryIt({
  run,
}: {
  readonly run: (trial: Trial) => Promise<{ readonly data?: { readonly data: Result } | undefined }>;
}): ReactElement {
  const [text, setText] = useState('Write to ann@example.com about project-12');
  const [side, setSide] = useState<'request' | 'answer'>('request');
  const test = useCall(run);
  const result = test.data?.data;
  return (
    <div className="flex flex-col gap-2">
      <TextArea
        label="A text"
        rows={3}
        value={text}
        error={test.error?.message}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="flex items-center gap-2">
        <Segments label="Where" value={side} options={SIDES} onChange={setSide} />
        <Button disabled={test.isPending || text === ''} onClick={() => test.mutate({ text, side })}>
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
    </div>
  );
}
