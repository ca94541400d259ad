import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { useConsole } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Select, TextArea } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { Ago, Name } from '../../parts/text.tsx';

const CATEGORIES = [
  { value: 'incorrect_response', label: 'The response is wrong' },
  { value: 'incoherence', label: 'The response makes no sense' },
  { value: 'formatting', label: 'The format is wrong' },
  { value: 'latency', label: 'It was slow' },
  { value: 'billing', label: 'The cost is wrong' },
  { value: 'api_error', label: 'It failed' },
  { value: 'other', label: 'Something else' },
] as const;

/** Says what is wrong with a response. */
export function Feedback({
  id,
  isOpen,
  onClose,
}: {
  readonly id: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [category, setCategory] = useState<(typeof CATEGORIES)[number]['value']>('incorrect_response');
  const [comment, setComment] = useState('');
  const body = { generation_id: id, category, ...(comment !== '' && { comment }) };
  const send = useChange(
    (feedback: Schemas['SubmitGenerationFeedbackRequest']) => client.POST('/generation/feedback', { body: feedback }),
    onClose,
  );
  return (
    <FormDialog
      title="Feedback on this response"
      isOpen={isOpen}
      onClose={onClose}
      change={send}
      input={body}
      submit="Send"
      request={{ method: 'POST', path: '/generation/feedback', body }}
    >
      <Select label="What is wrong" options={CATEGORIES} value={category} onChange={setCategory} />
      <TextArea
        label="In your words"
        rows={4}
        maxLength={1_000}
        value={comment}
        onChange={(event) => setComment(event.target.value)}
      />
    </FormDialog>
  );
}

/** The feedback on this response, for operators; nothing, where there is none. */
export function FeedbackList({ id }: { readonly id: string }): ReactElement | undefined {
  const { isOperator } = useConsole();
  const feedback = useRead(
    ['feedback', id],
    (signal) => client.GET('/generation/feedback', { signal, params: { query: { id } } }),
    { enabled: isOperator },
  );
  const list = feedback.data?.data ?? [];
  if (list.length === 0) return undefined;
  return (
    <Section title="Feedback">
      <ul>
        {list.map(({ created_at: at, category, comment }) => (
          <li key={`${at} ${category}`} className="flex min-h-7 flex-wrap items-center gap-x-3">
            <Badge tone="warn">{CATEGORIES.find(({ value }) => value === category)?.label ?? category}</Badge>
            {comment !== null && (
              <span className="min-w-0 break-words">
                <Name>{comment}</Name>
              </span>
            )}
            <span className="text-dim">
              <Ago at={at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
