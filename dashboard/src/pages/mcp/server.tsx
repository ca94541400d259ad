import type { ReactElement } from 'react';
import { Badge } from '../../parts/badge.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Segments } from '../../parts/field.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { Name } from '../../parts/text.tsx';
import { CLIENT_SETTINGS } from './clients.ts';
import { CLIENT_NAMES, type ClientName } from './search.ts';
import type { KnownClient, McpSettings } from './settings.ts';

/** What is on and where it stands, the address, and how programs connect. */
export function Server({
  settings,
  file,
  isChanged,
  client,
  onClient,
}: {
  readonly settings: McpSettings;
  /** Of the configuration; null: there is none. */
  readonly file: string | null;
  /** On the disk, and not in effect yet. */
  readonly isChanged: boolean;
  readonly client: ClientName;
  readonly onClient: (client: ClientName) => void;
}): ReactElement {
  const { isOn, hasOauth, publicUrl, tools, clients } = settings;
  const url = `${publicUrl ?? location.origin}/mcp`;
  return (
    <>
      {isChanged && (
        <p role="note" className="bg-warn-soft px-4 py-1 text-warn">
          It was changed on the disk: that is in effect after a restart.
        </p>
      )}
      <Section
        title="Status"
        actions={
          <LinkButton to="/ui/settings" search={{ tab: 'configuration', q: 'mcp_server' }}>
            Configuration
          </LinkButton>
        }
      >
        <Facts of={factsOf(settings)} />
      </Section>
      <Section title={isOn ? 'To change it' : 'To turn it on'}>
        <div className="flex max-w-2xl flex-col gap-2">
          <p className="text-dim">
            Access to a gateway is reviewed and versioned with the rest of its configuration, so it is set in{' '}
            <Name>{file ?? 'gateway.yaml'}</Name>, below mcp_server, and a restart puts it into effect.
          </p>
          {changesOf(settings).map(([label, text]) => (
            <div key={label} className="flex flex-col gap-1">
              <p>{label}:</p>
              <CodeBlock label={label} text={text} />
            </div>
          ))}
        </div>
      </Section>
      {isOn && (
        <>
          <Section title="Connect a program">
            <div className="flex max-w-2xl flex-col gap-2">
              <CodeBlock label="Address" text={url} isWrapped />
              <div className="max-w-full overflow-x-auto">
                <Segments
                  label="Program"
                  value={client}
                  options={CLIENT_NAMES.map((name) => ({ value: name, label: CLIENT_SETTINGS[name].label }))}
                  onChange={onClient}
                />
              </div>
              <CodeBlock label="Settings of the program" text={CLIENT_SETTINGS[client].text(url, hasOauth)} isWrapped />
              <p className="text-dim">
                {hasOauth
                  ? 'It opens this dashboard, where a person agrees to its tools and a limit. A key works as well.'
                  : 'Give each program a key of its own with a limit: what it spends is charged to that key.'}
              </p>
            </div>
          </Section>
          <Section title="Tools that it has">
            <ul className="flex flex-wrap gap-1.5">
              {tools.map((tool) => (
                <li key={tool}>
                  <Badge tone={SPENDS.includes(tool) ? 'warn' : 'dim'}>
                    {tool}
                    {SPENDS.includes(tool) && ': is charged'}
                  </Badge>
                </li>
              ))}
            </ul>
          </Section>
          {hasOauth && <Programs of={clients} />}
        </>
      )}
    </>
  );
}

const SPENDS: readonly string[] = ['send-message', 'generate-image'];

function factsOf(settings: McpSettings): Parameters<typeof Facts>[0]['of'] {
  const { isOn, hasOauth, takesDocuments, takesRegistration, takesPrivateAddresses, origins, placeOf } = settings;
  const state = (is: boolean, name: string): ReactElement => (
    <span key={name}>
      <Badge tone={is ? 'good' : 'dim'}>{is ? 'on' : 'off'}</Badge>{' '}
      <span className="text-dim">
        <Name>{placeOf(name)}</Name>
      </span>
    </span>
  );
  return [
    ['Server', state(isOn, 'enabled')],
    ['OAuth', state(hasOauth, 'oauth')],
    ...(hasOauth
      ? ([
          ['Programs by document', state(takesDocuments, 'client_documents')],
          ['In your own network', state(takesPrivateAddresses, 'private_addresses')],
          ['Programs that register', state(takesRegistration, 'registration')],
        ] as const)
      : []),
    ['Pages of', <Name key="origins">{['this gateway', ...origins].join(', ')}</Name>],
  ];
}

/** What can be turned on or off from here, each with its lines. */
function changesOf({ isOn, hasOauth }: McpSettings): readonly (readonly [string, string])[] {
  if (!isOn)
    return [
      ['With keys alone', 'mcp_server: { enabled: true }'],
      ['Programs may also ask a person', 'mcp_server: { enabled: true, oauth: true }'],
    ];
  return [
    hasOauth
      ? ['With keys alone', 'mcp_server: { enabled: true, oauth: false }']
      : ['Programs may also ask a person', 'mcp_server: { enabled: true, oauth: true }'],
    ['Nothing at /mcp', 'mcp_server: { enabled: false }'],
  ];
}

function Programs({ of }: { readonly of: readonly KnownClient[] }): ReactElement {
  return (
    <Section title="Programs that the configuration names">
      {of.length === 0 && <p className="text-dim">None (mcp_server.clients).</p>}
      <ul className="divide-y divide-line">
        {of.map(({ id, name, redirectUris }) => (
          <li key={id} className="flex min-h-9 flex-wrap items-center gap-x-4 py-1">
            <span className="font-medium">
              <Name>{name}</Name>
            </span>
            <span className="font-mono text-xs">
              <Name>{id}</Name>
            </span>
            <span className="min-w-0 break-all text-dim">
              <Name>{redirectUris.join(', ')}</Name>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
