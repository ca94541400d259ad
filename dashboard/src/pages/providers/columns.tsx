import type { Credential } from '../../api/lists.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatCount, formatUsdShort } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';

/** A provider with what the lists say of it. */
export interface ProviderRow {
  readonly slug: string;
  readonly name: string;
  readonly headquarters: string | null;
  readonly datacenters: readonly string[];
  /** Whether the gateway has a credential of its own for it. */
  readonly isOn: boolean;
  /** What turns it on. */
  readonly hint: string | undefined;
  /** Where its credential comes from, by name. */
  readonly credential: string | undefined;
  readonly formats: readonly string[];
  readonly models: number;
  readonly credentials: readonly Credential[];
  readonly requests: number;
  readonly errors: number;
  readonly usd: number;
}

export const PROVIDER_COLUMNS: readonly Column<ProviderRow>[] = [
  {
    id: 'name',
    title: 'Provider',
    width: 140,
    grows: true,
    cell: ({ name }) => (
      <span className="font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  {
    id: 'slug',
    title: 'Slug',
    width: 110,
    cell: ({ slug }) => <span className="font-mono text-xs text-dim">{slug}</span>,
  },
  {
    id: 'on',
    title: 'State',
    width: 60,
    cell: ({ isOn }) => <Badge tone={isOn ? 'good' : 'dim'}>{isOn ? 'on' : 'off'}</Badge>,
  },
  {
    id: 'because',
    title: 'Because',
    width: 190,
    cell: ({ credential, hint }) => <span className="text-dim">{credential ?? hint ?? '–'}</span>,
  },
  {
    id: 'formats',
    title: 'Formats',
    width: 120,
    cell: ({ formats }) => <span className="text-dim">{formats.join(' ') || '–'}</span>,
  },
  {
    id: 'models',
    title: 'Models',
    width: 64,
    align: 'right',
    cell: ({ models }) => <span className="font-mono text-xs">{formatCount(models)}</span>,
  },
  {
    id: 'credentials',
    title: 'Own credentials',
    width: 150,
    cell: ({ credentials }) =>
      credentials.length === 0 ? (
        <span className="text-dim">–</span>
      ) : (
        credentials.map(({ id, label, name, disabled }) => (
          <Badge key={id} tone={disabled ? 'dim' : 'good'}>
            {name ?? label}
          </Badge>
        ))
      ),
  },
  {
    id: 'requests',
    title: '7 d requests',
    width: 92,
    align: 'right',
    cell: ({ requests }) => <span className="font-mono text-xs">{formatCount(requests)}</span>,
  },
  {
    id: 'errors',
    title: 'Errors',
    width: 70,
    align: 'right',
    cell: ({ errors }) => (
      <span className={`font-mono text-xs ${errors > 0 ? 'text-bad' : 'text-dim'}`}>{formatCount(errors)}</span>
    ),
  },
  {
    id: 'usd',
    title: '7 d $',
    width: 90,
    align: 'right',
    cell: ({ usd }) => <span className="font-mono text-xs">{formatUsdShort(usd)}</span>,
  },
  {
    id: 'where',
    title: 'Regions',
    width: 100,
    cell: ({ headquarters, datacenters }) => (
      <span className="text-dim">{datacenters.join(' ') || headquarters || '–'}</span>
    ),
  },
];
