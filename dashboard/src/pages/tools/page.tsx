import { useCallback, type ReactElement } from 'react';
import { isRecord } from '../../api/errors.ts';
import { useRead } from '../../api/read.ts';
import { readApi } from '../../api/transport.ts';
import { Badge } from '../../parts/badge.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { useSearchState } from '../../parts/search.ts';
import { parseToolsSearch } from './search.ts';
import { Page as Frame, Section } from '../../parts/page.tsx';
import { Empty, Load, Needs } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';

const YAML = `mcp_servers:\n  notes:\n    command: npx\n    args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/notes']\n    tools: [read_text_file, search_files]`;

/** MCP servers, server tools and plugins. */
export function Page(): ReactElement {
  const [{ filter }, change] = useSearchState(parseToolsSearch);
  const setFilter = useCallback((q: string) => change({ q }, false), [change]);
  return (
    <Frame
      title="Tools"
      bar={<FilterBox value={filter} onChange={setFilter} placeholder="web_search" label="Filter tools" />}
    >
      <Section title="MCP servers">
        <Needs operation="GET /mcp_servers">
          <Listed filter={filter} path="/mcp_servers" empty={<NoServers />} />
        </Needs>
      </Section>
      <Section title="Server tools">
        <Needs operation="GET /server_tools">
          <Listed filter={filter} path="/server_tools" empty={<Empty title="No server tool" />} />
        </Needs>
      </Section>
      <Section title="Plugins">
        <Needs operation="GET /plugins">
          <Listed filter={filter} path="/plugins" empty={<Empty title="No plugin" />} />
        </Needs>
      </Section>
    </Frame>
  );
}

function NoServers(): ReactElement {
  return (
    <Empty title="No MCP server is connected">
      <p>
        Tools of an MCP server are there for every model. Nothing in a browser may start a process, so it is these lines
        of the configuration:
      </p>
      <CodeBlock label="gateway.yaml" text={YAML} />
    </Empty>
  );
}

function Listed({
  path,
  empty,
  filter,
}: {
  readonly path: string;
  readonly empty: ReactElement;
  readonly filter: string;
}): ReactElement {
  const list = useRead(['tools', path], async (signal) => ({ data: await readApi(path, signal) }));
  return (
    <Load of={list} rows={3}>
      {(body) => {
        const rows =
          isRecord(body) && Array.isArray(body['data'])
            ? body['data'].filter(isRecord).filter((row) => matches(filter, JSON.stringify(row)))
            : [];
        if (rows.length === 0) return empty;
        return (
          <ul>
            {rows.map((row, at) => (
              <Row key={at} row={row} />
            ))}
          </ul>
        );
      }}
    </Load>
  );
}

function Row({ row }: { readonly row: Readonly<Record<string, unknown>> }): ReactElement {
  const text = (name: string): string => (typeof row[name] === 'string' ? row[name] : '');
  const tools = Array.isArray(row['tools']) ? row['tools'].length : undefined;
  return (
    <li className="flex min-h-8 flex-wrap items-center gap-x-4 border-b border-line last:border-0">
      <span className="w-48 truncate font-medium">
        <Name>{text('name') || text('id')}</Name>
      </span>
      {text('state') !== '' && (
        <Badge tone={text('state') === 'connected' || text('state') === 'ready' ? 'good' : 'warn'}>
          {text('state')}
        </Badge>
      )}
      {text('transport') !== '' && <span className="text-dim">{text('transport')}</span>}
      {tools !== undefined && <span className="text-dim">{tools} tools</span>}
      <span className="min-w-0 flex-1 text-dim">{text('description') || text('summary') || text('error')}</span>
    </li>
  );
}
