import type { ReactElement } from 'react';
import { readReadiness } from '../../api/health.ts';
import { isRecord } from '../../api/errors.ts';
import { useRead } from '../../api/read.ts';
import { readApi } from '../../api/transport.ts';
import { Badge } from '../../parts/badge.tsx';
import { Page as Frame, Section, Stat, Stats } from '../../parts/page.tsx';
import { Load, Needs } from '../../parts/states.tsx';
import { Checkbox } from '../../parts/field.tsx';
import { useSearchState } from '../../parts/search.ts';
import { parseHealthSearch } from './search.ts';
import { formatCompact } from '../../parts/money.ts';

const REFRESH_MS = 15_000;

/** Every part and its state. */
export function Page(): ReactElement {
  const [{ isBadOnly }, change] = useSearchState(parseHealthSearch);
  const ready = useRead(['ready'], async (signal) => ({ data: await readReadiness(signal) }), { everyMs: REFRESH_MS });
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
      <Load of={ready} rows={2}>
        {({ isReady, status }) => (
          <Stats>
            <Stat label="Ready for traffic" hint={`GET /health/ready: ${status}`}>
              <Badge tone={isReady ? 'good' : 'bad'}>{isReady ? 'ready' : 'not ready'}</Badge>
            </Stat>
          </Stats>
        )}
      </Load>
      <Section title="Parts">
        <Needs operation="GET /health/details">
          <Details isBadOnly={isBadOnly} />
        </Needs>
      </Section>
    </Frame>
  );
}

function Details({ isBadOnly }: { readonly isBadOnly: boolean }): ReactElement {
  const details = useRead(['health-details'], async (signal) => ({ data: await readApi('/health/details', signal) }), {
    everyMs: REFRESH_MS,
  });
  return (
    <Load of={details}>
      {(body) => (
        <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1">
          {leavesOf(isRecord(body) && 'data' in body ? body['data'] : body, '')
            .filter(([name, value]) => !isBadOnly || isBad(name, value))
            .map(([name, value]) => (
              <div key={name} className="contents">
                <dt className="text-dim">{name}</dt>
                <dd className="font-mono text-xs">{value}</dd>
              </div>
            ))}
        </dl>
      )}
    </Load>
  );
}

const LEAVES_MAX = 200;

/** Every figure with its path. */
function leavesOf(value: unknown, path: string): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => leavesOf(item, `${path}[${at}]`)).slice(0, LEAVES_MAX);
  if (isRecord(value))
    return Object.entries(value).flatMap(([name, item]) => leavesOf(item, path === '' ? name : `${path}.${name}`));
  return [[path, typeof value === 'number' ? formatCompact(value) : String(value)]];
}

/** Losses that are more than none, and states that say that something is wrong. */
function isBad(name: string, value: string): boolean {
  return (/lost|dropped|failed/.test(name) && value !== '0') || /^(?:false|failed|down|open)$/.test(value);
}
