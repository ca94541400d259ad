import { useEffect, useRef, useState, type ReactElement } from 'react';
import { NO_ANSWER, streamChat, type ChatAnswer } from '../../api/chat-stream.ts';
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
  onAnswered,
}: {
  readonly model: string;
  readonly models: readonly Model[];
  readonly onModel: (model: string) => void;
  readonly onAnswered: () => void;
}): ReactElement {
  const [answer, setAnswer] = useState<ChatAnswer>(NO_ANSWER);
  const [isRunning, setIsRunning] = useState(false);
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  const ask = async (): Promise<void> => {
    controller.current = new AbortController();
    setIsRunning(true);
    setAnswer(NO_ANSWER);
    let last = NO_ANSWER;
    await streamChat(
      { model, messages: [{ role: 'user', content: 'Say hello' }], max_tokens: 100 },
      controller.current.signal,
      (next) => setAnswer((last = next)),
    );
    setIsRunning(false);
    if (last.error === undefined && last.text !== '') onAnswered();
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-3">
        <div className="w-64">
          <Select
            label="Model"
            value={model}
            options={models.map(({ id }) => ({ value: id, label: id }))}
            onChange={(event) => onModel(event.target.value)}
          />
        </div>
        <Button look="primary" icon="send" disabled={isRunning} onClick={() => void ask()}>
          {isRunning ? 'Asking …' : 'Say hello'}
        </Button>
      </div>
      <div aria-live="polite">
        {answer.error !== undefined && <p className="text-bad">{answer.error.message}</p>}
        {answer.text !== '' && (
          <p className="rounded-md border border-line bg-page px-3 py-2 whitespace-pre-wrap">{answer.text}</p>
        )}
        {answer.totalMs !== undefined && answer.error === undefined && (
          <p className="mt-1 flex flex-wrap gap-x-3 text-xs text-dim">
            {answer.usage?.costUsd !== undefined && (
              <span className="font-mono">{formatUsd(answer.usage.costUsd)} $</span>
            )}
            <span>first token {formatMs(answer.firstMs)}</span>
            {answer.provider !== undefined && <span>at {answer.provider}</span>}
            <To to="/ui/routing" search={{ model }}>
              why there?
            </To>
            {answer.id !== undefined && <To to={`/ui/requests/${answer.id}`}>the record</To>}
          </p>
        )}
      </div>
    </div>
  );
}
