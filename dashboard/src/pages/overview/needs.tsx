import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { To } from '../../parts/button.tsx';
import { formatCount } from '../../parts/money.ts';
import { Section } from '../../parts/page.tsx';
import { Name } from '../../parts/text.tsx';
import type { Range } from '../../parts/time.ts';

const REFRESH_MS = 15_000;
const LISTED = 5;

/** What an operator has to look at; nothing where all is well. */
export function Needs({
  unpriced,
  range,
}: {
  /** Requests of unknown price in the range. */
  readonly unpriced: number;
  readonly range: Range;
}): ReactElement | undefined {
  const health = useRead(['routing-health'], (signal) => client.GET('/routing/health', { signal }), {
    everyMs: REFRESH_MS,
  });
  const open = (health.data?.data ?? []).filter(({ circuit }) => circuit !== 'closed');
  if (open.length === 0 && unpriced === 0) return undefined;
  return (
    <Section title="Needs you">
      <ul className="flex flex-col gap-1">
        {open.slice(0, LISTED).map(({ id, provider, models }) => (
          <li key={id}>
            <To to="/ui/routing" search={{ tab: 'health' }}>
              The circuit of <Name>{provider}</Name> is open
            </To>{' '}
            <span className="text-dim">
              for <Name>{models.join(', ') || 'a model that is not in the catalog'}</Name>: other endpoints go first.
            </span>
          </li>
        ))}
        {open.length > LISTED && <li className="text-dim">and {open.length - LISTED} more circuits.</li>}
        {unpriced > 0 && (
          <li>
            <To to="/ui/requests" search={{ range }}>
              {formatCount(unpriced)} {unpriced === 1 ? 'request has' : 'requests have'} no known price
            </To>{' '}
            <span className="text-dim">: sums are “at least” until their models have one in the configuration.</span>
          </li>
        )}
      </ul>
    </Section>
  );
}
