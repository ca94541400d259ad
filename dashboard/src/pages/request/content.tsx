import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { isRecord } from '../../api/errors.ts';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/field.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Failure, Skeleton } from '../../parts/states.tsx';
import { useSearchState } from '../../parts/search.ts';
import { parseRequestSearch } from './search.ts';

type View = 'markdown' | 'text' | 'raw';
const VIEWS = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'text', label: 'Text' },
  { value: 'raw', label: 'Raw' },
] as const;

/** Content of the request, if it was kept: nothing is fetched before the click, and the click is recorded. */
export function Content({ id }: { readonly id: string }): ReactElement {
  const [{ isContentShown }, change] = useSearchState(parseRequestSearch);
  const [view, setView] = useState<View>('markdown');
  const show = (): void => change({ content: 'true' }, false);
  useHotkeys({ v: show });
  return (
    <Section
      title="Content"
      actions={
        isContentShown ? <Segments label="Shown as" value={view} options={VIEWS} onChange={setView} /> : undefined
      }
    >
      {isContentShown ? (
        <KeptContent id={id} view={view} />
      ) : (
        <div className="flex flex-wrap items-center gap-3">
          <Button onClick={show} hotkey="v">
            Show
          </Button>
          <span className="text-dim">Reading what people wrote is recorded in the audit log.</span>
        </div>
      )}
    </Section>
  );
}

function KeptContent({ id, view }: { readonly id: string; readonly view: View }): ReactElement {
  const content = useRead(
    ['content', id],
    async (signal) => ({
      data: (await client.GET('/generation/content', { signal, params: { query: { id } } })).data?.data,
    }),
    { isOnDemand: true },
  );
  if (content.isError && content.error.status === 404)
    return (
      <Empty title="Nothing was kept of this request">
        <p>{content.error.message} A workspace keeps content only where its logging is switched on.</p>
      </Empty>
    );
  if (content.isError) return <Failure error={content.error} onRetry={() => void content.refetch()} />;
  if (content.data === undefined) return <Skeleton rows={4} />;
  return view === 'raw' ? (
    <JsonView value={content.data} label="Content" />
  ) : (
    <Turns content={content.data} isMarkdown={view === 'markdown'} />
  );
}

function Turns({
  content,
  isMarkdown,
}: {
  readonly content: Schemas['ListGenerationContentResponse']['data'];
  readonly isMarkdown: boolean;
}): ReactElement {
  const { input, output, error } = content;
  return (
    <div className="flex flex-col gap-4">
      {input.messages.map((message, at) => (
        <Turn
          key={at}
          speaker={isRecord(message) && typeof message['role'] === 'string' ? message['role'] : 'message'}
          value={isRecord(message) ? message['content'] : message}
          isMarkdown={isMarkdown}
        />
      ))}
      {output.reasoning !== null && (
        <details>
          <summary className="text-xs text-dim">Reasoning</summary>
          <Turn speaker="reasoning" value={output.reasoning} isMarkdown={isMarkdown} />
        </details>
      )}
      {output.completion !== null && <Turn speaker="response" value={output.completion} isMarkdown={isMarkdown} />}
      {output.tool_calls !== undefined && <JsonView value={output.tool_calls} label="Tool calls" />}
      {error !== null && <JsonView value={error} label="Error" />}
    </div>
  );
}

function Turn({
  speaker,
  value,
  isMarkdown,
}: {
  readonly speaker: string;
  readonly value: unknown;
  readonly isMarkdown: boolean;
}): ReactElement {
  return (
    <div>
      <p className="mb-1 text-xs font-semibold text-dim uppercase">{speaker}</p>
      {typeof value !== 'string' ? (
        <JsonView value={value} label={speaker} />
      ) : isMarkdown ? (
        <Markdown text={value} />
      ) : (
        <pre className="font-mono text-xs whitespace-pre-wrap">{value}</pre>
      )}
    </div>
  );
}
