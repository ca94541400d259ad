import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Badge, Dot } from '../../parts/badge.tsx';
import { Checkbox } from '../../parts/field.tsx';
import { formatCount } from '../../parts/money.ts';
import { Page as Frame, Section, Stat, Stats } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Load } from '../../parts/states.tsx';
import { Ago } from '../../parts/text.tsx';
import { partsOf, type HealthDetails, type HealthPart } from './parts.ts';
import { parseHealthSearch } from './search.ts';

const REFRESH_MS = 15_000;
const TONES = { ready: 'good', degraded: 'warn', unavailable: 'bad' } as const;

/** Every part, its figure, and what to do where it is not well. */
export function Page(): ReactElement {
  const [{ isBadOnly }, change] = useSearchState(parseHealthSearch);
  const details = useRead(['health'], (signal) => client.GET('/health/details', { signal }), { everyMs: REFRESH_MS });
  return (
    <Frame
      title="Health"
      bar={
        <Checkbox
          label="Only what is not well"
          checked={isBadOnly}
          onChange={(event) => change({ bad: event.target.checked ? 'true' : undefined }, false)}
        />
      }
    >
      <Load of={details}>
        {({ data }) => (
          <>
            <Summary details={data} />
            <Reasons reasons={data.reasons} />
            <Parts parts={partsOf(data).filter(({ advice }) => !isBadOnly || advice !== undefined)} />
          </>
        )}
      </Load>
    </Frame>
  );
}

function Summary({ details }: { readonly details: HealthDetails }): ReactElement {
  const { status, version, started_at: at, processes } = details;
  return (
    <Stats>
      <Stat label="Ready for traffic" hint="GET /health/ready">
        <Badge tone={TONES[status]}>{status}</Badge>
      </Stat>
      <Stat label="Version">{version}</Stat>
      <Stat label="Started">
        <Ago at={at} />
      </Stat>
      <Stat label="Processes">{formatCount(processes.length)}</Stat>
    </Stats>
  );
}

function Reasons({ reasons }: { readonly reasons: readonly string[] }): ReactElement | undefined {
  if (reasons.length === 0) return undefined;
  return (
    <Section title="Not well">
      <ul>
        {reasons.map((reason) => (
          <li key={reason} className="text-warn">
            {reason}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Parts({ parts }: { readonly parts: readonly HealthPart[] }): ReactElement {
  if (parts.length === 0)
    return (
      <Section title="Parts">
        <p className="text-dim">Every part is well.</p>
      </Section>
    );
  return (
    <>
      {[...Map.groupBy(parts, ({ of }) => of)].map(([of, own]) => (
        <Section key={of} title={of}>
          <ul>
            {own.map(({ name, figure, advice }) => (
              <li key={name} className="flex min-h-7 flex-wrap items-center gap-x-4 border-b border-line last:border-0">
                <span className="w-32">
                  <Dot tone={advice === undefined ? 'good' : 'bad'} />
                  {name}
                  <span className="sr-only">{advice === undefined ? ': well' : ': not well'}</span>
                </span>
                <span className="font-mono text-xs">{figure}</span>
                {advice !== undefined && <span className="min-w-0 text-warn">{advice}</span>}
              </li>
            ))}
          </ul>
        </Section>
      ))}
    </>
  );
}
