import type { ReactElement } from 'react';
import { isRecord } from '../../api/errors.ts';
import { useRead } from '../../api/read.ts';
import { readApi } from '../../api/transport.ts';
import { Badge } from '../../parts/badge.tsx';
import { To } from '../../parts/button.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Load, Needs } from '../../parts/states.tsx';
import { Ago, Money } from '../../parts/text.tsx';

/** Every entry of the ledger, newest first. */
export function Ledger(): ReactElement {
  return (
    <Needs operation="GET /credits/entries">
      <Entries />
    </Needs>
  );
}

function Entries(): ReactElement {
  const entries = useRead(['ledger'], async (signal) => ({
    data: await readApi('/credits/entries?limit=100', signal),
  }));
  return (
    <Section title="Ledger, the newest 100">
      <Load of={entries}>
        {(body) => {
          const rows = isRecord(body) && Array.isArray(body['data']) ? body['data'].filter(isRecord) : [];
          if (rows.length === 0)
            return (
              <Empty title="No credit is tracked yet">
                <p>
                  Grants, adjustments and what requests used are entries here. Spend is recorded with or without them.
                </p>
              </Empty>
            );
          return (
            <ul>
              {rows.map((row, at) => (
                <Entry key={`${text(row['id'])} ${at}`} row={row} />
              ))}
            </ul>
          );
        }}
      </Load>
    </Section>
  );
}

function Entry({ row }: { readonly row: Readonly<Record<string, unknown>> }): ReactElement {
  const generation = text(row['generation_id']);
  const amount = typeof row['amount'] === 'number' ? row['amount'] : null;
  return (
    <li className="flex min-h-7 flex-wrap items-center gap-x-4 border-b border-line last:border-0">
      <span className="w-24 text-dim">
        <Ago at={text(row['created_at'])} />
      </span>
      <span className="w-24">
        <Badge tone={amount !== null && amount < 0 ? 'dim' : 'good'}>{text(row['kind'])}</Badge>
      </span>
      <span className="w-32 text-right">
        <Money usd={amount} places={9} />
      </span>
      <span className="min-w-0 flex-1 truncate text-dim">
        {generation === '' ? text(row['note']) : <To to={`/ui/requests/${generation}`}>{generation}</To>}
      </span>
    </li>
  );
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
