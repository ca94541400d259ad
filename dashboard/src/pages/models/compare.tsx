import type { ReactElement, ReactNode } from 'react';
import type { Model } from '../../api/models.ts';
import { IconButton, LinkButton } from '../../parts/button.tsx';
import { formatCount, formatPerMillion } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';

const LINES: readonly (readonly [string, (model: Model) => ReactNode])[] = [
  ['In, USD per million', ({ pricing }) => formatPerMillion(pricing.prompt)],
  ['Out, USD per million', ({ pricing }) => formatPerMillion(pricing.completion)],
  ['Context', ({ context_length: length }) => formatCount(length)],
  ['Most tokens out', ({ top_provider: top }) => formatCount(top.max_completion_tokens)],
  ['In', ({ architecture }) => architecture.input_modalities.join(', ')],
  ['Knows until', ({ knowledge_cutoff: until }) => until ?? 'unknown'],
];

/** Up to four models beside each other. */
export function Compare({
  models,
  onRemove,
}: {
  readonly models: readonly Model[];
  readonly onRemove: (id: string) => void;
}): ReactElement {
  return (
    <div className="overflow-x-auto border-b border-line bg-surface p-4">
      <table>
        <thead>
          <tr>
            <td />
            {models.map(({ id }) => (
              <th key={id} scope="col" className="pr-6 text-left font-semibold">
                <span className="flex items-center">
                  <Name>{id}</Name> <IconButton icon="close" label={`Take ${id} away`} onClick={() => onRemove(id)} />
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {LINES.map(([name, value]) => (
            <tr key={name} className="h-7">
              <th scope="row" className="pr-6 text-left font-normal text-dim">
                {name}
              </th>
              {models.map((model) => (
                <td key={model.id} className="pr-6 font-mono text-xs">
                  {value(model)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div className="mt-2">
        <LinkButton to="/ui/playground" search={{ models: models.map(({ id }) => id).join(',') }} icon="playground">
          Ask them all
        </LinkButton>
      </div>
    </div>
  );
}
