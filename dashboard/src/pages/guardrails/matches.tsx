import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Load } from '../../parts/states.tsx';
import { formatMoment } from '../../parts/time.ts';

const TONES: Readonly<Record<string, Tone>> = { blocked: 'bad', redacted: 'warn', flagged: 'warn' };

/** What a guardrail found in the last days, by what matched. */
export function Matches({ id }: { readonly id: string }): ReactElement {
  const matches = useRead(['guardrail-matches', id], (signal) =>
    client.GET('/guardrails/{id}/matches', { signal, params: { path: { id } } }),
  );
  return (
    <Load of={matches}>
      {({ data, counted_since: since }) => (
        <>
          {data.length === 0 ? (
            <p className="text-dim">Nothing was found in 7 days.</p>
          ) : (
            <table className="w-full text-left text-xs">
              <thead className="text-dim">
                <tr>
                  <th className="py-1 font-medium">Day (UTC)</th>
                  <th className="font-medium">Found</th>
                  <th className="font-medium">Then</th>
                  <th className="text-right font-medium">Times</th>
                </tr>
              </thead>
              <tbody>
                {data.map(({ date, pattern, action, matches: times }) => (
                  <tr key={`${date} ${pattern ?? ''} ${action}`} className="border-t border-line">
                    <td className="py-1 font-mono">{date}</td>
                    <td className="font-mono break-all">{pattern ?? 'not searched in time'}</td>
                    <td>
                      <Badge tone={TONES[action] ?? 'dim'}>{action}</Badge>
                    </td>
                    <td className="text-right font-mono">{times}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          <p className="mt-1 text-xs text-dim">Counted since {formatMoment(new Date(since))}.</p>
        </>
      )}
    </Load>
  );
}
