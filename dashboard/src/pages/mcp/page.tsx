import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { connectionsQuery } from '../../api/connections.ts';
import { useRead } from '../../api/read.ts';
import { Segments } from '../../parts/field.tsx';
import { formatCount } from '../../parts/money.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Load } from '../../parts/states.tsx';
import { Connections } from './connections.tsx';
import { parseMcpSearch } from './search.ts';
import { Server } from './server.tsx';
import { readSettings } from './settings.ts';

const EVERY_MS = 10_000;

/** The gateway as an MCP server: what is on, how programs connect, and which ones did. */
export function Page(): ReactElement {
  const [{ tab, client: shown, peek }, change] = useSearchState(parseMcpSearch);
  const config = useRead(['config'], (signal) => client.GET('/config', { signal }), { everyMs: EVERY_MS });
  const { data: connections } = useQuery(connectionsQuery);
  const count = connections?.length ?? 0;
  return (
    <Frame
      title="MCP server"
      isFilled={tab === 'connections'}
      lead={count === 0 ? undefined : count === 1 ? '1 connection' : `${formatCount(count)} connections`}
      bar={
        <Segments
          label="Show"
          value={tab}
          options={[
            { value: 'server', label: 'Server' },
            { value: 'connections', label: 'Connections' },
          ]}
          onChange={(next) => change({ tab: next, peek: undefined })}
        />
      }
    >
      {tab === 'connections' ? (
        <Connections peek={peek} onPeek={(id) => change({ peek: id }, false)} />
      ) : (
        <Load of={config}>
          {({ data: { values, file, needs_restart: changed } }) => (
            <Server
              settings={readSettings(values)}
              file={file}
              isChanged={changed.includes('mcpServer')}
              client={shown}
              onClient={(next) => change({ client: next }, false)}
            />
          )}
        </Load>
      )}
    </Frame>
  );
}
