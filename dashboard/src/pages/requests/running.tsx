import type { ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { formatCount } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';
import { formatMs } from '../../parts/time.ts';

const READ_EVERY_MS = 1_000;

/** Shows and hides those that are under way. */
export function RunningButton({
  isShown,
  onToggle,
}: {
  readonly isShown: boolean;
  readonly onToggle: () => void;
}): ReactElement {
  return (
    <Button aria-pressed={isShown} onClick={onToggle}>
      Running
    </Button>
  );
}

/** Requests under way, read again each second, with what came so far and a way to end each. */
export function Running(): ReactElement {
  const running = useRead(['generations-running'], (signal) => client.GET('/generations/running', { signal }), {
    everyMs: READ_EVERY_MS,
  });
  const stop = useChange((id: string) => client.POST('/generations/{id}/stop', { params: { path: { id } } }));
  const { data, total_count: total, processes } = running.data ?? { data: [], total_count: 0, processes: 0 };
  return (
    <section aria-label="Running" className="max-h-60 shrink-0 overflow-auto border-b border-line bg-surface px-4 py-2">
      <p className="text-xs text-dim" aria-live="polite">
        {running.error !== null
          ? running.error.message
          : total === 0
            ? 'No request is under way.'
            : `${formatCount(total)} under way${total > data.length ? `, the newest ${data.length} are listed` : ''}, in ${processes === 1 ? 'this process' : `${processes} processes`}.`}
      </p>
      {stop.error !== null && (
        <p role="alert" className="text-bad">
          {stop.error.message}
        </p>
      )}
      {data.length > 0 && (
        <table className="mt-1 w-full text-left text-xs">
          <thead className="text-dim">
            <tr>
              {['Age', 'Model', 'Served by', 'Key', 'TTFT', 'Tokens so far'].map((title) => (
                <th key={title} className="py-1 pr-3 font-medium">
                  {title}
                </th>
              ))}
              <th>
                <span className="sr-only">Stop</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.map((row) => (
              <Row key={row.id} row={row} isStopping={stop.isPending} onStop={() => stop.mutate(row.id)} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({
  row,
  isStopping,
  onStop,
}: {
  readonly row: Schemas['RunningGeneration'];
  readonly isStopping: boolean;
  readonly onStop: () => void;
}): ReactElement {
  const failed = row.failed_attempts === 0 ? '' : ` after ${row.failed_attempts} failed`;
  return (
    <tr className="border-t border-line">
      <td className="py-1 pr-3 font-mono">{formatMs(row.age_ms)}</td>
      <td className="pr-3">
        <Name>{row.model ?? row.requested_model}</Name>
      </td>
      <td className="pr-3">
        {row.provider_name === null ? 'no content yet' : <Name>{row.provider_name}</Name>}
        {failed}
      </td>
      <td className="pr-3">
        <Name>{row.api_key_name ?? row.api_key_hash.slice(0, 8)}</Name>
      </td>
      <td className="pr-3 font-mono">{formatMs(row.time_to_first_token)}</td>
      <td className="pr-3 font-mono">≈ {formatCount(row.tokens_so_far)}</td>
      <td className="text-right">
        <Button disabled={isStopping} onClick={onStop} aria-label={`Stop ${row.id}`}>
          Stop
        </Button>
      </td>
    </tr>
  );
}
