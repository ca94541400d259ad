import { useState, type ReactElement } from 'react';
import type { Format } from '../../api/generation/response.ts';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { DiffView } from '../../parts/diff-view.tsx';
import { Segments } from '../../parts/field.tsx';
import { WarningList } from '../../parts/warning-list.tsx';
import type { Thread } from './conversation.ts';

/** What was sent against what went upstream, line by line, with what the gateway says of the difference. */
export function Upstream({
  threads,
  format,
}: {
  readonly threads: readonly Thread[];
  readonly format: Format;
}): ReactElement {
  const [chosen, setChosen] = useState(0);
  const thread = threads[chosen];
  return (
    <div className="flex flex-col gap-3">
      {threads.length > 1 && (
        <Segments
          label="Column"
          value={String(chosen)}
          options={threads.map(({ model }, at) => ({ value: String(at), label: model }))}
          onChange={(at) => setChosen(Number(at))}
        />
      )}
      {thread === undefined || thread.response.upstream.length === 0 ? (
        <p className="text-dim">
          {format === 'messages'
            ? 'Streams of messages do not say what went upstream. Switch to chat or responses, and ask again.'
            : 'Nothing went upstream yet. Send a message first: each attempt then has its body here, without headers and secrets.'}
        </p>
      ) : (
        <Attempts thread={thread} />
      )}
    </div>
  );
}

function Attempts({ thread: { response } }: { readonly thread: Thread }): ReactElement {
  const { upstream, sent, id } = response;
  return (
    <>
      {id !== undefined && <Warnings id={id} />}
      {upstream.map(({ provider, body }, at) => (
        <section key={at} className="flex flex-col gap-1">
          <h3 className="font-medium">
            {upstream.length > 1 && `Attempt ${at + 1}, `}
            {provider ?? 'upstream'}
          </h3>
          <DiffView
            label={`What went to ${provider ?? 'the upstream'}, against what was sent`}
            before={toText(sent)}
            after={toText(body)}
          />
        </section>
      ))}
    </>
  );
}

/** The record has them a moment after the response. */
function Warnings({ id }: { readonly id: string }): ReactElement | undefined {
  const record = useRead(
    ['generation', id],
    async (signal) => ({ data: (await client.GET('/generation', { signal, params: { query: { id } } })).data?.data }),
    { isLate: true },
  );
  const warnings = record.data?.warnings ?? [];
  return warnings.length === 0 ? undefined : <WarningList of={warnings} />;
}

/** Members in one order, so that the same member is the same line. */
function toText(value: unknown): string {
  return `${JSON.stringify(value, (_name, inner: unknown) => sorted(inner), 2)}\n`;
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
