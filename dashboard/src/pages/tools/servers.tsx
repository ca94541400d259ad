import { useState, type ReactElement } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { formatCount } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';
import { CallTool } from './call-tool.tsx';

type Server = Schemas['McpServer'];
export type McpTool = NonNullable<Server['tools']>[number];

/** MCP servers with their tools, each of which can be called by hand. */
export function Servers({ servers }: { readonly servers: readonly Server[] }): ReactElement {
  const [called, setCalled] = useState<{ readonly server: string; readonly tool: McpTool }>();
  if (servers.length === 0) return <p className="text-dim">None matches.</p>;
  return (
    <>
      <ul>
        {servers.map((server) => (
          <li key={server.name} className="border-b border-line py-1 last:border-0">
            <ServerRow server={server} onCall={(tool) => setCalled({ server: server.name, tool })} />
          </li>
        ))}
      </ul>
      {called !== undefined && (
        <CallTool
          key={`${called.server} ${called.tool.name}`}
          server={called.server}
          tool={called.tool}
          onClose={() => setCalled(undefined)}
        />
      )}
    </>
  );
}

function ServerRow({
  server: { name, transport, state, trouble, tools, workspaces, keys },
  onCall,
}: {
  readonly server: Server;
  readonly onCall: (tool: McpTool) => void;
}): ReactElement {
  const users = [
    ...(workspaces === null ? [] : [`${workspaces.length} workspaces`]),
    ...(keys === null ? [] : [`${keys.length} keys`]),
  ];
  return (
    <details>
      <summary className="flex min-h-7 flex-wrap items-center gap-x-4 hover:text-accent">
        <span className="w-48 truncate font-medium">
          <Name>{name}</Name>
        </span>
        <Badge tone={state === 'ready' ? 'good' : 'bad'}>{state}</Badge>
        <span className="text-dim">{transport}</span>
        {tools !== null && <span className="text-dim">{formatCount(tools.length)} tools</span>}
        <span className="text-dim">for {users.length === 0 ? 'every key' : users.join(' and ')}</span>
        {trouble !== null && <span className="min-w-0 text-bad">{trouble}</span>}
      </summary>
      <ul className="pl-4">
        {(tools ?? []).map((tool) => (
          <li key={tool.name} className="flex min-h-8 flex-wrap items-center gap-x-4">
            <span className="w-44 truncate font-mono text-xs">
              <Name>{tool.name}</Name>
            </span>
            <span className="min-w-0 flex-1 truncate text-dim" title={tool.description}>
              <Name>{tool.description}</Name>
            </span>
            <Button aria-label={`Call ${tool.name}`} onClick={() => onCall(tool)}>
              Call
            </Button>
          </li>
        ))}
      </ul>
    </details>
  );
}
