import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { connectionsQuery, endConnection, type Connection } from '../../api/connections.ts';
import { Button, To } from '../../parts/button.tsx';
import { Section } from '../../parts/page.tsx';
import { Ago, Name } from '../../parts/text.tsx';

/** Programs that may use the MCP server. */
export function Connections(): ReactElement | undefined {
  const { data } = useQuery(connectionsQuery);
  const queries = useQueryClient();
  if (data === undefined || data === null) return undefined;
  const end = async (id: string): Promise<void> => {
    await endConnection(id);
    await queries.invalidateQueries();
  };
  return (
    <Section title="Connections">
      {data.length === 0 && <p className="text-dim">No program is connected to the MCP server of this gateway.</p>}
      <ul className="divide-y divide-line">
        {data.map((connection) => (
          <Row key={connection.id} of={connection} onEnd={() => void end(connection.id)} />
        ))}
      </ul>
    </Section>
  );
}

function Row({ of, onEnd }: { readonly of: Connection; readonly onEnd: () => void }): ReactElement {
  const { clientName, clientHost, keyHash, scopes, lastUsedAt, expiresAt } = of;
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-3">
      <span className="font-medium">
        <To to={`/ui/keys/${keyHash}`}>
          <Name>{clientName}</Name>
        </To>
      </span>
      {clientHost !== undefined && (
        <span className="text-dim">
          <Name>{clientHost}</Name>
        </span>
      )}
      <span className="min-w-0 flex-1 truncate font-mono text-xs text-dim">{scopes.join(' ')}</span>
      <span className="text-dim">{lastUsedAt === undefined ? 'not used yet' : <Ago at={lastUsedAt} />}</span>
      {expiresAt !== undefined && (
        <span className="text-dim">
          ends <Ago at={expiresAt} />
        </span>
      )}
      <Button aria-label={`End ${clientName}`} onClick={onEnd}>
        End
      </Button>
    </li>
  );
}
