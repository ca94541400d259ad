import type { Schemas } from '../../api/client.ts';
import type { Column } from '../../parts/grid.tsx';
import { formatUsdShort } from '../../parts/money.ts';
import { Ago, Name } from '../../parts/text.tsx';

export type Guardrail = Schemas['Guardrail'];

export const GUARDRAIL_COLUMNS: readonly Column<Guardrail>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 170,
    grows: true,
    cell: ({ name }) => (
      <span className="font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  {
    id: 'filters',
    title: 'Filters',
    width: 230,
    cell: (guardrail) => filtersOf(guardrail).join(', ') || <span className="text-dim">none</span>,
  },
  {
    id: 'models',
    title: 'Models',
    width: 150,
    cell: ({ allowed_models: allowed, ignored_models: ignored }) => rule(allowed, ignored),
  },
  {
    id: 'providers',
    title: 'Providers',
    width: 150,
    cell: ({ allowed_providers: allowed, ignored_providers: ignored }) => rule(allowed, ignored),
  },
  {
    id: 'data',
    title: 'Data',
    width: 110,
    cell: ({ enforce_zdr: zdr }) => (zdr === true ? 'zero retention' : <span className="text-dim">as sent</span>),
  },
  {
    id: 'limit',
    title: 'Limit',
    width: 110,
    align: 'right',
    cell: ({ limit_usd: usd, reset_interval: reset }) =>
      usd === null ? <span className="text-dim">none</span> : `${formatUsdShort(usd)} $ ${reset ?? ''}`,
  },
  {
    id: 'changed',
    title: 'Changed',
    width: 100,
    cell: ({ updated_at: at, created_at: made }) => <Ago at={at ?? made} />,
  },
];

/** `email redact`, `/project-\d+/ block` */
export function filtersOf({
  content_filters: own,
  content_filter_builtins: builtin,
  judge_filters: judges,
}: Guardrail): readonly string[] {
  return [
    ...(builtin ?? []).map(({ slug, action }) => `${slug} ${action}`),
    ...(own ?? []).map(({ pattern, action }) => `/${pattern}/ ${action}`),
    ...(judges ?? []).map(({ label, question, action }) => `${label ?? question} ${action}`),
  ];
}

function rule(allowed: readonly string[] | null, ignored: readonly string[] | null): React.ReactNode {
  if (allowed !== null) return `only ${allowed.join(', ')}`;
  return ignored === null ? <span className="text-dim">all</span> : `not ${ignored.join(', ')}`;
}
