import { useState, type ReactElement } from 'react';
import { Badge } from '../../parts/badge.tsx';
import { Button, IconButton, To } from '../../parts/button.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { formatCount, formatUsd } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';
import { formatMs } from '../../parts/time.ts';
import type { Conversation, Thread } from './conversation.ts';
import { Pictures, Turn } from './turn.tsx';

interface ThreadViewProps {
  readonly thread: Thread;
  readonly conversation: Conversation;
  readonly onRemove: (() => void) | undefined;
  readonly onOnly: (() => void) | undefined;
  /** The name stays hidden until one is chosen. */
  readonly alias: string | undefined;
}

/** One column: the messages, the response as it grows, and what it cost. */
export function ThreadView({ thread, conversation, onRemove, onOnly, alias }: ThreadViewProps): ReactElement {
  const { model, messages, response, isRunning } = thread;
  const hasBegun =
    response.text !== '' || response.reasoning !== '' || response.toolCalls.length > 0 || response.images.length > 0;
  return (
    <section
      aria-label={alias ?? model}
      className="flex min-h-0 min-w-72 flex-1 flex-col border-r border-line bg-surface last:border-r-0"
    >
      <header className="flex h-9 items-center gap-1 border-b border-line pr-1 pl-3">
        <h2 className="min-w-0 flex-1 truncate font-semibold">{alias ?? <Name>{model}</Name>}</h2>
        {isRunning && (
          <IconButton icon="stop" label={`Stop ${alias ?? model}`} onClick={() => conversation.stop(model)} />
        )}
        {!isRunning && messages.length > 0 && (
          <IconButton icon="refresh" label={`Ask ${alias ?? model} again`} onClick={() => conversation.retry(model)} />
        )}
        {onOnly !== undefined && messages.length > 0 && (
          <IconButton icon="check" label={`Go on with ${alias ?? model} alone`} onClick={onOnly} />
        )}
        {onRemove !== undefined && <IconButton icon="close" label={`Take ${alias ?? model} away`} onClick={onRemove} />}
      </header>
      <div
        className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto p-3"
        role="log"
        aria-live="off"
        tabIndex={0}
        data-column=""
        aria-label={`Conversation with ${alias ?? model}`}
      >
        {messages.map((message, at) => (
          <Turn
            key={at}
            message={message}
            onEdit={isRunning ? undefined : (text) => conversation.edit(at, message, text)}
          />
        ))}
        {response.reasoning !== '' && (
          <Reasoning text={response.reasoning} isOver={response.text !== '' || !isRunning} />
        )}
        {response.text !== '' && <Markdown text={response.text} />}
        <Pictures urls={response.images} />
        {isRunning && !hasBegun && <p className="late text-dim">waiting for the first token …</p>}
        {response.toolCalls.length > 0 && (
          <ToolCalls thread={thread} onAnswer={(results) => conversation.answerTool(model, results)} />
        )}
        {response.error !== undefined && (
          <p role="alert" className="flex gap-2 rounded-md bg-bad-soft p-2 text-bad">
            <Icon name="warning" /> <span className="min-w-0 break-words">{response.error.message}</span>
          </p>
        )}
      </div>
      {messages.length > 0 && <Foot thread={thread} isHidden={alias !== undefined} />}
    </section>
  );
}

function Reasoning({ text, isOver }: { readonly text: string; readonly isOver: boolean }): ReactElement {
  return (
    <details className="rounded-md border border-line" open={!isOver}>
      <summary className="flex h-7 items-center gap-1.5 px-2 text-xs text-dim">
        <Icon name="playground" size={12} /> {isOver ? 'Reasoning' : 'Thinking …'}{' '}
        <span>{formatCount(text.length)} characters</span>
      </summary>
      <p className="max-h-60 overflow-y-auto border-t border-line p-2 text-dim whitespace-pre-wrap">{text}</p>
    </details>
  );
}

function ToolCalls({
  thread,
  onAnswer,
}: {
  readonly thread: Thread;
  readonly onAnswer: (results: Readonly<Record<string, string>>) => void;
}): ReactElement {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  const calls = thread.response.toolCalls;
  return (
    <form
      className="flex flex-col gap-3 rounded-md border border-line p-3"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(results);
      }}
    >
      {calls.map(({ id, function: { name, arguments: text } }) => (
        <div key={id} className="flex flex-col gap-1">
          <p className="flex items-center gap-2 font-medium">
            <Icon name="tools" size={14} /> <Name>{name}</Name>
          </p>
          <pre className="overflow-x-auto rounded bg-page p-2 font-mono text-xs whitespace-pre-wrap">{text}</pre>
          {!thread.isRunning && (
            <TextArea
              label={`What ${name} returns`}
              rows={2}
              value={results[id] ?? ''}
              onChange={(event) => setResults({ ...results, [id]: event.target.value })}
              className="font-mono text-xs"
            />
          )}
        </div>
      ))}
      {!thread.isRunning && (
        <div>
          <Button type="submit" look="primary">
            Answer and go on
          </Button>
        </div>
      )}
    </form>
  );
}

function Foot({
  thread: { response, isRunning },
  isHidden,
}: {
  readonly thread: Thread;
  readonly isHidden: boolean;
}): ReactElement {
  const { usage, firstMs, totalMs } = response;
  const seconds = ((totalMs ?? 0) - (firstMs ?? 0)) / 1_000;
  const speed =
    usage !== undefined && seconds > 0.05 ? `${Math.round(usage.completionTokens / seconds)} tok/s` : undefined;
  return (
    <footer className="flex min-h-8 flex-wrap items-center gap-x-3 border-t border-line px-3 py-1 text-xs text-dim">
      {isRunning && <Badge tone="accent">streaming</Badge>}
      {!isRunning && response.finish !== undefined && response.finish !== 'stop' && (
        <Badge tone="warn">{response.finish}</Badge>
      )}
      {usage?.costUsd !== undefined && <span className="font-mono text-text">{formatUsd(usage.costUsd)} $</span>}
      {firstMs !== undefined && <span>first token {formatMs(firstMs)}</span>}
      {totalMs !== undefined && <span>total {formatMs(totalMs)}</span>}
      {usage !== undefined && (
        <span>
          {formatCount(usage.promptTokens)} in, {formatCount(usage.completionTokens)} out
        </span>
      )}
      {speed !== undefined && <span>{speed}</span>}
      {!isHidden && response.provider !== undefined && <span>at {response.provider}</span>}
      <span className="flex-1" />
      {response.id !== undefined && !isHidden && <To to={`/ui/requests/${response.id}`}>the record</To>}
    </footer>
  );
}
