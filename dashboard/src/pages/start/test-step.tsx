import { useEffect, useRef, useState, type ReactElement } from 'react';
import { NO_RESPONSE, type ChatResponse } from '../../api/generation/response.ts';
import { streamGeneration } from '../../api/generation/stream.ts';
import type { Model } from '../../api/models.ts';
import { Button, To } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { formatUsd } from '../../parts/money.ts';
import { formatMs } from '../../parts/time.ts';

/** One question, and what came of it. */
export function TestStep({
  model,
  models,
  onModel,
  onServed,
}: {
  readonly model: string;
  readonly models: readonly Model[];
  readonly onModel: (model: string) => void;
  readonly onServed: () => void;
}): ReactElement {
  const [response, setResponse] = useState<ChatResponse>(NO_RESPONSE);
  const [isRunning, setIsRunning] = useState(false);
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  const ask = async (): Promise<void> => {
    controller.current = new AbortController();
    setIsRunning(true);
    setResponse(NO_RESPONSE);
    let last = NO_RESPONSE;
    await streamGeneration(
      'chat',
      { model, messages: [{ role: 'user', content: 'Say hello' }], max_tokens: 100 },
      controller.current.signal,
      (next) => setResponse((last = next)),
    );
    setIsRunning(false);
    if (last.error === undefined && last.text !== '') onServed();
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-3">
        <div className="w-64">
          <Select
            label="Model"
            value={model}
            options={models.map(({ id }) => ({ value: id, label: id }))}
            onChange={onModel}
          />
        </div>
        <Button look="primary" icon="send" disabled={isRunning} onClick={() => void ask()}>
          {isRunning ? 'Asking …' : 'Say hello'}
        </Button>
      </div>
      <div aria-live="polite">
        {response.error !== undefined && <p className="text-bad">{response.error.message}</p>}
        {response.text !== '' && (
          <p className="rounded-md border border-line bg-page px-3 py-2 whitespace-pre-wrap">{response.text}</p>
        )}
        {response.totalMs !== undefined && response.error === undefined && (
          <p className="mt-1 flex flex-wrap gap-x-3 text-xs text-dim">
            {response.usage?.costUsd !== undefined && (
              <span className="font-mono">{formatUsd(response.usage.costUsd)} $</span>
            )}
            <span>first token {formatMs(response.firstMs)}</span>
            {response.provider !== undefined && <span>at {response.provider}</span>}
            <To to="/ui/routing" search={{ model }}>
              why there?
            </To>
            {response.id !== undefined && <To to={`/ui/requests/${response.id}`}>the record</To>}
          </p>
        )}
      </div>
    </div>
  );
}
