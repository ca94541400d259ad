import { useState, type ReactElement } from 'react';
import { readResponse } from '../../api/responses.ts';
import { useRead } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { Section } from '../../parts/page.tsx';
import { Failure, Skeleton } from '../../parts/states.tsx';

/** What a response says: nothing is read before the click, which is recorded. */
export function Content({ id, workspace }: { readonly id: string; readonly workspace: string }): ReactElement {
  const [isShown, setShown] = useState(false);
  if (isShown) return <KeptContent id={id} workspace={workspace} />;
  return (
    <Section title="Content">
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => setShown(true)}>Read it</Button>
        <span className="text-dim">Reading what people wrote is recorded in the audit log.</span>
      </div>
    </Section>
  );
}

function KeptContent({ id, workspace }: { readonly id: string; readonly workspace: string }): ReactElement {
  const content = useRead(
    ['response', id, workspace],
    async (signal) => ({ data: await readResponse(id, workspace, signal) }),
    { isOnDemand: true },
  );
  if (content.isError && content.error.status === 404)
    return (
      <Section title="Content">
        <p className="text-dim">
          Only the key that sent its request may read it. With responses.share: workspace in the configuration every key
          of the workspace may.
        </p>
      </Section>
    );
  if (content.isError) return <Failure error={content.error} onRetry={() => void content.refetch()} />;
  if (content.data === undefined) return <Skeleton rows={4} />;
  const { response, input, hasMore } = content.data;
  return (
    <>
      <Section title="Output">
        {response.output_text === '' ? (
          <p className="text-dim">It has no text.</p>
        ) : (
          <Markdown text={response.output_text} />
        )}
      </Section>
      <Section title={`Items of the output (${response.output.length})`}>
        <JsonView value={response.output} label="Items of the output" />
      </Section>
      <Section title={`Items of the input (${input.length}${hasMore ? '+' : ''})`}>
        <JsonView value={input} label="Items of the input" />
      </Section>
    </>
  );
}
