import { useState, type ReactElement, type ReactNode } from 'react';
import { client } from '../../api/client.ts';
import type { KeptResponse } from '../../api/responses.ts';
import { useChange } from '../../api/read.ts';
import { Button, IconButton, To } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { formatBytes } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { backgroundOf, isUnderWay, State } from './columns.tsx';
import { Content } from './content.tsx';

const TYPED_CHARS = 6;

/** One kept response: what is known of it, its content for keys that may read it, and its end. */
export function ResponsePanel({
  row,
  workspace,
  onClose,
}: {
  readonly row: KeptResponse;
  /** Empty: that of the session's key. */
  readonly workspace: string;
  readonly onClose: () => void;
}): ReactElement {
  return (
    <SidePanel title={<Name>{row.id}</Name>} onClose={onClose}>
      <Section title="Response" actions={<Steps row={row} workspace={workspace} onClose={onClose} />}>
        <Facts of={factsOf(row)} />
      </Section>
      <Content id={row.id} workspace={workspace} />
    </SidePanel>
  );
}

function factsOf(row: KeptResponse): readonly (readonly [string, ReactNode])[] {
  const { previous_response_id: previous, expires_at: ends } = row;
  return [
    ['State', <State key="state" of={row} />],
    ['Background', row.background_runs === null ? 'no' : backgroundOf(row)],
    ['Continues', previous === null ? 'nothing' : <Id key="previous" id={previous} length={24} />],
    ['Key', <Name key="key">{row.api_key_name ?? row.api_key_hash.slice(0, 12)}</Name>],
    ['Size', formatBytes(row.size_bytes)],
    ['Made', <Ago key="made" at={row.created_at} />],
    ['Ends', ends === null ? 'some time after its last use, or when it is deleted' : <Ago key="ends" at={ends} />],
    ['Id', <Id key="id" id={row.id} length={24} />],
    [
      'Request',
      <To key="request" to={`/ui/requests/${encodeURIComponent(row.id)}`}>
        its request
      </To>,
    ],
  ];
}

function Steps({
  row,
  workspace,
  onClose,
}: {
  readonly row: KeptResponse;
  readonly workspace: string;
  readonly onClose: () => void;
}): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const params = {
    path: { response_id: row.id },
    query: workspace === '' ? {} : { workspace_id: workspace },
  };
  const cancel = useChange(() => client.POST('/responses/kept/{response_id}/cancel', { params }));
  const remove = useChange(() => client.DELETE('/responses/kept/{response_id}', { params }), onClose);
  return (
    <>
      {isUnderWay(row) && (
        <Button icon="stop" disabled={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
          Cancel the response
        </Button>
      )}
      <IconButton icon="trash" label="Delete the response" onClick={() => setIsDeleting(true)} />
      {cancel.error !== null && (
        <p role="alert" className="basis-full text-bad">
          {cancel.error.message}
        </p>
      )}
      <DeleteDialog
        what="response"
        name={row.id.slice(-TYPED_CHARS)}
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        change={remove}
      >
        What continues it cannot be continued any more.
      </DeleteDialog>
    </>
  );
}
