import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Status } from '../../parts/badge.tsx';
import { matches } from '../../parts/filter-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { formatMoment } from '../../parts/time.ts';
import { REQUEST_COLUMNS, type ScimRequest } from './columns.tsx';
import { Listed, type TabProps } from './tab.tsx';

const SHOWN = 100;
const EVERY_MS = 5_000;

/** What the provider did, with the reason of each refusal. */
export function Requests({ filter, peek, onPeek, onFilter }: TabProps): ReactElement {
  const requests = useRead(
    ['scim-requests'],
    (signal) => client.GET('/scim/requests', { signal, params: { query: { offset: 0, limit: SHOWN } } }),
    { everyMs: EVERY_MS },
  );
  const tokens = useRead(['scim-tokens'], (signal) => client.GET('/scim/tokens', { signal }));
  const found = (requests.data?.data ?? []).filter(({ method, path, status, outcome }) =>
    matches(filter, method, path, String(status), outcome),
  );
  const peeked = found.find(({ id }) => id === peek);
  return (
    <Load of={requests}>
      {({ data, total_count: total }) => (
        <Listed
          what="request"
          total={data.length}
          found={found.length}
          filter={filter}
          onFilter={onFilter}
          empty={
            <Empty title="No provider has called yet">
              <p>Each request that comes with a token is here for 30 days, with what it changed or why not.</p>
            </Empty>
          }
        >
          <Grid
            label="Requests"
            columns={REQUEST_COLUMNS}
            rows={found}
            keyOf={({ id }) => id}
            chosen={peek}
            onPeek={({ id }) => onPeek(id)}
            foot={
              total > data.length && (
                <p className="px-3 py-2 text-dim">
                  The newest {formatCount(data.length)} of {formatCount(total)} that are kept.
                </p>
              )
            }
          />
          {peeked !== undefined && (
            <RequestPanel
              key={peeked.id}
              request={peeked}
              token={tokens.data?.data.find(({ id }) => id === peeked.token_id)?.name ?? 'one that is gone'}
              onClose={() => onPeek(undefined)}
            />
          )}
        </Listed>
      )}
    </Load>
  );
}

function RequestPanel({
  request,
  token,
  onClose,
}: {
  readonly request: ScimRequest;
  readonly token: string;
  readonly onClose: () => void;
}): ReactElement {
  const { method, path, status, outcome, at, address } = request;
  const changes = outcome === '' ? [] : outcome.split('; ');
  return (
    <SidePanel title={`${method} ${status}`} onClose={onClose}>
      <Section title="Request">
        <Facts
          of={[
            ['Status', <Status key="status" status={status} />],
            [
              'Path',
              <span key="path" className="font-mono text-xs break-all">
                <Name>{path}</Name>
              </span>,
            ],
            ['When', formatMoment(new Date(at))],
            ['Ago', <Ago key="ago" at={at} />],
            ['Token', <Name key="token">{token}</Name>],
            ['From', address],
          ]}
        />
      </Section>
      <Section title={status >= 400 ? 'Why not' : 'What changed'}>
        {changes.length === 0 && <p className="text-dim">Nothing.</p>}
        <ul className="flex flex-col gap-1">
          {changes.map((change) => (
            <li key={change} className={`break-words ${status >= 400 ? 'text-bad' : ''}`}>
              <Name>{change}</Name>
            </li>
          ))}
        </ul>
      </Section>
    </SidePanel>
  );
}
