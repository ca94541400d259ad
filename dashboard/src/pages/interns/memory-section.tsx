import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { TextArea } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { Load } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import type { Intern } from './columns.tsx';

/** What an intern remembers, with an editor. */
export function MemorySection({ intern }: { readonly intern: Intern }): ReactElement {
  const [isEditing, setIsEditing] = useState(false);
  const params = { path: { internId: intern.id } };
  const memory = useRead(['intern-memory', intern.id], (signal) =>
    client.GET('/interns/{internId}/memory', { signal, params }),
  );
  return (
    <Section title="Memory" actions={<Button onClick={() => setIsEditing(true)}>Edit memory</Button>}>
      <Load of={memory} rows={2}>
        {({ data }) => (
          <>
            {data.text === '' ? (
              <p className="text-dim">Nothing yet.</p>
            ) : (
              <p className="whitespace-pre-wrap">
                <Name>{data.text}</Name>
              </p>
            )}
            {data.updated_at !== null && (
              <p className="text-dim">
                Version {data.version}, <Ago at={data.updated_at} />
              </p>
            )}
            {isEditing && <MemoryForm intern={intern} text={data.text} onClose={() => setIsEditing(false)} />}
          </>
        )}
      </Load>
    </Section>
  );
}

function MemoryForm({
  intern,
  text: before,
  onClose,
}: {
  readonly intern: Intern;
  readonly text: string;
  readonly onClose: () => void;
}): ReactElement {
  const [text, setText] = useState(before);
  const params = { path: { internId: intern.id } };
  const change = useChange(
    (input: { text: string }) => client.PUT('/interns/{internId}/memory', { params, body: input }),
    onClose,
  );
  return (
    <FormDialog
      title="Memory"
      isOpen
      onClose={onClose}
      change={change}
      input={{ text }}
      submit="Save"
      request={{ method: 'PUT', path: `/interns/${intern.id}/memory`, body: { text } }}
    >
      <TextArea
        label="Notes"
        rows={10}
        value={text}
        hint="Runs that begin later read them as data. Pages and tools may be quoted in them."
        error={issueFor(change.error, 'text')}
        onChange={(event) => setText(event.target.value)}
      />
    </FormDialog>
  );
}
