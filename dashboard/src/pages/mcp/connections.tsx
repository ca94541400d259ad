import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { connectionsQuery, endConnection, type Connection } from '../../api/connections.ts';
import { asApiError } from '../../api/errors.ts';
import { nameOf, usePeople, useWorkspaces } from '../../api/lists.ts';
import { useChange } from '../../api/read.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Grid, type Column } from '../../parts/grid.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Empty, Failure, Skeleton } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';

const COLUMNS: readonly Column<Connection>[] = [
  {
    id: 'program',
    title: 'Program',
    width: 180,
    grows: true,
    cell: ({ clientName }) => (
      <span className="font-medium">
        <Name>{clientName}</Name>
      </span>
    ),
  },
  {
    id: 'host',
    title: 'By its document',
    width: 180,
    cell: ({ clientHost }) =>
      clientHost === undefined ? <span className="text-dim">none</span> : <Name>{clientHost}</Name>,
  },
  {
    id: 'scopes',
    title: 'Scopes',
    width: 240,
    cell: ({ scopes }) => <span className="font-mono text-xs text-dim">{scopes.join(' ')}</span>,
  },
  { id: 'used', title: 'Used', width: 100, cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
  { id: 'ends', title: 'Ends', width: 100, cell: ({ expiresAt }) => <Ago at={expiresAt} /> },
];

/** Programs with tokens, the people that allowed them, what they may do, and the way to end that. */
export function Connections({
  peek,
  onPeek,
}: {
  readonly peek: string;
  readonly onPeek: (id: string | undefined) => void;
}): ReactElement {
  const { data, error, refetch } = useQuery(connectionsQuery);
  if (data === null)
    return (
      <Empty title="Programs connect with API keys alone" action={<LinkButton to="/ui/keys">Keys</LinkButton>}>
        <p>With OAuth a program asks a person in this dashboard, and gets tokens of its own.</p>
      </Empty>
    );
  if (data === undefined)
    return error === null ? <Skeleton /> : <Failure error={asApiError(error)} onRetry={() => void refetch()} />;
  if (data.length === 0)
    return (
      <Empty title="No program is connected" action={<LinkButton to="/ui/mcp">How one connects</LinkButton>}>
        <p>A program that a person agreed to is here, with its scopes and the key that its calls are charged to.</p>
      </Empty>
    );
  const peeked = data.find(({ id }) => id === peek);
  return (
    <div className="flex min-h-0 flex-1">
      <Grid
        label="Connections"
        columns={COLUMNS}
        rows={data}
        keyOf={({ id }) => id}
        chosen={peek}
        onPeek={({ id }) => onPeek(id)}
      />
      {peeked !== undefined && <Panel key={peeked.id} connection={peeked} onClose={() => onPeek(undefined)} />}
    </div>
  );
}

function Panel({
  connection,
  onClose,
}: {
  readonly connection: Connection;
  readonly onClose: () => void;
}): ReactElement {
  const [isEnding, setIsEnding] = useState(false);
  const { id, clientId, clientName, clientHost, keyHash, userId, workspaceId, scopes } = connection;
  const people = usePeople(userId !== undefined);
  const workspaces = useWorkspaces();
  const end = useChange(async () => {
    await endConnection(id);
    return {};
  }, onClose);
  const person = people.data?.items.find((each) => each.id === userId)?.email ?? userId;
  return (
    <SidePanel title={<Name>{clientName}</Name>} onClose={onClose}>
      <Section
        title="Connection"
        actions={
          <>
            <LinkButton to={`/ui/keys/${keyHash}`}>Its key</LinkButton>
            <Button icon="stop" onClick={() => setIsEnding(true)}>
              End
            </Button>
          </>
        }
      >
        <Facts
          of={[
            [
              'Program',
              <span key="program" className="font-mono text-xs break-all">
                <Name>{clientId}</Name>
              </span>,
            ],
            [
              'By its document',
              clientHost === undefined ? 'none: anything can call itself so' : <Name key="host">{clientHost}</Name>,
            ],
            ['Allowed by', person === undefined ? 'an operator' : <Name key="person">{person}</Name>],
            ['Workspace', <Name key="workspace">{nameOf(workspaces.data, workspaceId)}</Name>],
            ['Scopes', scopes.join(', ')],
            ['Since', <Ago key="since" at={connection.createdAt} />],
            ['Used', <Ago key="used" at={connection.lastUsedAt} />],
            ['Ends', <Ago key="ends" at={connection.expiresAt} />],
          ]}
        />
      </Section>
      <FormDialog
        title="End a connection"
        isOpen={isEnding}
        onClose={() => setIsEnding(false)}
        change={end}
        input={undefined}
        submit="End it"
        look="danger"
      >
        <p>
          The tokens of <Name>{clientName}</Name> and its key are good for nothing any more. To go on, it has to ask a
          person again.
        </p>
      </FormDialog>
    </SidePanel>
  );
}
