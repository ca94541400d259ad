import type { ReactElement } from 'react';
import { isRecord } from '../../api/errors.ts';
import { Badge } from '../../parts/badge.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Name } from '../../parts/text.tsx';

/** Every endpoint that was considered, with the reason of each that was left out. */
export function RouteDecision({ response }: { readonly response: unknown }): ReactElement {
  const data = isRecord(response) && isRecord(response['data']) ? response['data'] : {};
  const considered = Array.isArray(data['considered']) ? data['considered'].filter(isRecord) : [];
  const stages = Array.isArray(data['stages']) ? data['stages'].filter(isRecord) : [];
  return (
    <div className="mt-3">
      <h3 className="text-xs font-semibold text-dim">
        {considered.length} considered{typeof data['ordering'] === 'string' ? `, ordered by ${data['ordering']}` : ''}
      </h3>
      <ol>
        {considered.map((endpoint, at) => (
          <Considered key={`${textOf(endpoint['tag'])} ${at}`} endpoint={endpoint} />
        ))}
      </ol>
      {stages.length > 0 && (
        <>
          <h3 className="mt-3 text-xs font-semibold text-dim">Stages</h3>
          <ul className="flex flex-col gap-2">
            {stages.map((stage, at) => (
              <li key={`${textOf(stage['name'])} ${at}`}>
                <span className="font-medium">{textOf(stage['name'])}</span>
                <JsonView value={stage['data']} label={`Stage ${textOf(stage['name'])}`} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function Considered({ endpoint }: { readonly endpoint: Readonly<Record<string, unknown>> }): ReactElement {
  const reason = textOf(endpoint['reason']);
  const outcome = textOf(endpoint['outcome']) || (reason === '' ? 'candidate' : 'excluded');
  return (
    <li className="flex min-h-7 flex-wrap items-center gap-x-3 border-b border-line last:border-0">
      <span className="w-4 text-right text-dim">{typeof endpoint['order'] === 'number' ? endpoint['order'] : '–'}</span>
      <span className="w-32 truncate font-medium">
        <Name>{textOf(endpoint['provider'])}</Name>
      </span>
      <span className="font-mono text-xs text-dim">{textOf(endpoint['model'])}</span>
      <Badge tone={outcome === 'served' ? 'good' : outcome === 'excluded' ? 'dim' : 'accent'}>{outcome}</Badge>
      <span className="text-dim">{reason}</span>
    </li>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
