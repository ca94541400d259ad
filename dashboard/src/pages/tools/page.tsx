import { type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Page as Frame, Section } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { Servers } from './servers.tsx';
import { parseToolsSearch } from './search.ts';

const YAML = `mcp_servers:\n  notes:\n    command: npx\n    args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/notes']\n    tools: [read_text_file, search_files]`;

/** MCP servers, server tools and plugins. */
export function Page(): ReactElement {
  const [{ filter }, change] = useSearchState(parseToolsSearch);
  const setFilter = (q: string): void => change({ q }, false);
  const servers = useRead(['mcp-servers'], (signal) => client.GET('/mcp_servers', { signal }));
  const tools = useRead(['server-tools'], (signal) => client.GET('/server_tools', { signal }));
  const plugins = useRead(['plugins'], (signal) => client.GET('/plugins', { signal }));
  return (
    <Frame
      title="Tools"
      bar={<FilterBox value={filter} onChange={setFilter} placeholder="web_search" label="Filter tools" />}
    >
      <Section title="MCP servers">
        <Load of={servers} rows={3}>
          {({ data }) =>
            data.length === 0 ? (
              <NoServers />
            ) : (
              <Servers servers={data.filter((server) => matches(filter, JSON.stringify(server)))} />
            )
          }
        </Load>
      </Section>
      <Section title="Server tools">
        <Load of={tools} rows={3}>
          {({ data }) => <Features of={data} filter={filter} />}
        </Load>
      </Section>
      <Section title="Plugins">
        <Load of={plugins} rows={3}>
          {({ data }) => <Features of={data} filter={filter} />}
        </Load>
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

/** What the gateway itself runs, with the options of each. */
function Features({
  of,
  filter,
}: {
  readonly of: readonly Schemas['Feature'][];
  readonly filter: string;
}): ReactElement {
  const found = of.filter(({ id, summary }) => matches(filter, id, summary));
  if (found.length === 0) return <p className="text-dim">None matches.</p>;
  return (
    <ul>
      {found.map(({ id, summary, options }) => (
        <li key={id} className="border-b border-line py-1 last:border-0">
          <details>
            <summary className="flex min-h-7 flex-wrap items-center gap-x-4 hover:text-accent">
              <span className="w-72 truncate font-medium max-sm:w-full">
                <Name>{id}</Name>
              </span>
              <span className="min-w-0 flex-1 text-dim">{summary}</span>
            </summary>
            <JsonView value={options} label={`Options of ${id}, as JSON Schema`} />
          </details>
        </li>
      ))}
    </ul>
  );
}
