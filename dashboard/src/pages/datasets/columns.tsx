import type { Schemas } from '../../api/client.ts';
import { Meter } from '../../parts/badge.tsx';
import { To } from '../../parts/button.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatBytes, formatCount } from '../../parts/money.ts';
import { Ago, Money, Name } from '../../parts/text.tsx';

export type Dataset = Schemas['EvaluationDataset'];
type App = Schemas['AppRanking'];
type SessionCost = Schemas['SessionCost'];

export interface RankedModel {
  readonly date: string;
  readonly model: string;
  readonly tokens: number;
  /** Of all models of its date. */
  readonly ofDate: number;
}

const OTHER = 'other';
const PERCENT = 100;

export const DATASET_COLUMNS: readonly Column<Dataset>[] = [
  {
    id: 'name',
    title: 'Dataset',
    width: 180,
    grows: true,
    cell: ({ name }) => (
      <span className="font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  {
    id: 'sha256',
    title: 'Version',
    width: 90,
    cell: ({ sha256 }) => <span className="font-mono text-xs text-dim">{sha256.slice(0, 8)}</span>,
  },
  { id: 'items', title: 'Questions', width: 90, align: 'right', cell: ({ items }) => formatCount(items) },
  { id: 'judged', title: 'For a judge', width: 90, align: 'right', cell: ({ judged_items: of }) => formatCount(of) },
  { id: 'size', title: 'Size', width: 90, align: 'right', cell: ({ size_bytes: size }) => formatBytes(size) },
  { id: 'license', title: 'License', width: 130, cell: ({ license }) => <Name>{license ?? '–'}</Name> },
  { id: 'created', title: 'Stored', width: 100, cell: ({ created_at: at }) => <Ago at={at} /> },
];

export const MODEL_COLUMNS: readonly Column<RankedModel>[] = [
  { id: 'date', title: 'From', width: 100, cell: ({ date }) => date },
  {
    id: 'model',
    title: 'Model',
    width: 240,
    grows: true,
    cell: ({ model }) =>
      model === OTHER ? (
        <span className="text-dim">all others</span>
      ) : (
        <To to={`/ui/models/${model}`}>
          <Name>{model}</Name>
        </To>
      ),
  },
  { id: 'tokens', title: 'Tokens', width: 120, align: 'right', cell: ({ tokens }) => formatCount(tokens) },
  {
    id: 'share',
    title: 'Of its date',
    width: 150,
    cell: ({ model, tokens, ofDate }) => (
      <span className="inline-flex items-center gap-2">
        <Meter used={tokens} limit={ofDate} label={`Share of ${model}`} isProgress />
        {ofDate === 0 ? 0 : Math.round((tokens / ofDate) * PERCENT)} %
      </span>
    ),
  },
];

export const APP_COLUMNS: readonly Column<App>[] = [
  { id: 'rank', title: 'Rank', width: 60, align: 'right', cell: ({ rank }) => String(rank) },
  { id: 'name', title: 'Application', width: 240, grows: true, cell: ({ app_name: name }) => <Name>{name}</Name> },
  {
    id: 'tokens',
    title: 'Tokens',
    width: 130,
    align: 'right',
    cell: ({ total_tokens: tokens }) => formatCount(Number(tokens)),
  },
  {
    id: 'requests',
    title: 'Requests',
    width: 100,
    align: 'right',
    cell: ({ total_requests: requests }) => formatCount(requests),
  },
];

export const SESSION_COLUMNS: readonly Column<SessionCost>[] = [
  {
    id: 'app',
    title: 'Application',
    width: 180,
    grows: true,
    cell: ({ app_name: name, app_slug: slug }) =>
      name === '' && slug === '' ? (
        <span className="text-dim">none named</span>
      ) : (
        <Name>{name === '' ? slug : name}</Name>
      ),
  },
  { id: 'model', title: 'Model', width: 220, cell: ({ model_permaslug: model }) => <Name>{model}</Name> },
  { id: 'turns', title: 'Turns', width: 90, cell: ({ turn_range: turns }) => turns },
  {
    id: 'cost',
    title: 'Median cost',
    width: 130,
    align: 'right',
    cell: ({ median_session_cost_usd: usd }) => <Money usd={usd} />,
  },
  { id: 'sessions', title: 'Sessions', width: 90, align: 'right', cell: ({ sessions }) => formatCount(sessions) },
];
