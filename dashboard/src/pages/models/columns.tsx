import type { Model } from '../../api/models.ts';
import type { Column } from '../../parts/grid.tsx';
import { formatCompact, formatPerMillion, formatUsdShort } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';
import { formatMs } from '../../parts/time.ts';

/** What analytics knows of a model, for all of them by one call. */
export interface ModelUse {
  readonly requests: number;
  readonly usd: number;
  readonly firstMs: number | null;
  readonly speed: number | null;
}

const mono = (text: string): React.ReactElement => <span className="font-mono text-xs">{text}</span>;

export function modelColumns(figuresOf: (id: string) => ModelUse | undefined): readonly Column<Model>[] {
  return [
    {
      id: 'id',
      title: 'Model',
      width: 230,
      grows: true,
      cell: ({ id }) => (
        <span className="font-medium">
          <Name>{id}</Name>
        </span>
      ),
    },
    {
      id: 'in',
      title: 'In $/M',
      width: 76,
      align: 'right',
      cell: ({ pricing }) => mono(formatPerMillion(pricing.prompt)),
    },
    {
      id: 'out',
      title: 'Out $/M',
      width: 80,
      align: 'right',
      cell: ({ pricing }) => mono(formatPerMillion(pricing.completion)),
    },
    {
      id: 'cache',
      title: 'Cache $/M',
      width: 80,
      align: 'right',
      cell: ({ pricing }) => mono(formatPerMillion(pricing.input_cache_read)),
    },
    {
      id: 'context',
      title: 'Context',
      width: 76,
      align: 'right',
      cell: ({ context_length: length }) => mono(length === null ? '–' : formatCompact(length)),
    },
    {
      id: 'sees',
      title: 'In',
      width: 120,
      cell: ({ architecture }) => <span className="text-dim">{architecture.input_modalities.join(' ')}</span>,
    },
    {
      id: 'can',
      title: 'Can',
      width: 130,
      cell: (model) => <span className="text-dim">{abilitiesOf(model).join(' · ')}</span>,
    },
    {
      id: 'ttft',
      title: 'TTFT p50',
      width: 76,
      align: 'right',
      cell: ({ id }) => mono(formatMs(figuresOf(id)?.firstMs ?? null)),
    },
    {
      id: 'speed',
      title: 'tok/s',
      width: 60,
      align: 'right',
      cell: ({ id }) => mono(figuresOf(id)?.speed?.toFixed(0) ?? '–'),
    },
    {
      id: 'used',
      title: '7 d $',
      width: 80,
      align: 'right',
      cell: ({ id }) => mono(figuresOf(id) === undefined ? '–' : formatUsdShort(figuresOf(id)?.usd)),
    },
  ];
}

export function abilitiesOf(model: Model): readonly string[] {
  const { supported_parameters: parameters, architecture } = model;
  return [
    ...(parameters.includes('tools') ? ['tools'] : []),
    ...(parameters.includes('reasoning') || model.reasoning !== undefined ? ['reasoning'] : []),
    ...(parameters.includes('structured_outputs') ? ['schema'] : []),
    ...(architecture.output_modalities.includes('image') ? ['draws'] : []),
  ];
}
