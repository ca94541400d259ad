import type { GenerationRow } from '../../api/generations.ts';
import { Status } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Money, Name } from '../../parts/text.tsx';
import { formatMs, formatRowTime } from '../../parts/time.ts';
import { nameOfZone } from '../../parts/preferences/zone.ts';
import { labelOfProvider } from '../../parts/provider-label.ts';

const mono = (text: string): React.ReactElement => <span className="font-mono text-xs">{text}</span>;
const dash = <span className="text-dim">–</span>;
const named = (text: string | null | undefined): React.ReactNode =>
  text === null || text === undefined || text === '' ? dash : <Name>{text}</Name>;
const right = 'right' as const;

/** What a row says beside its figures, as signs with a word for each. */
export function notesOf(row: GenerationRow): readonly (readonly [string, string])[] {
  return [
    ...(row.attempts > 1 ? [[`⇄${row.attempts}`, `${row.attempts} attempts`] as const] : []),
    ...(row.is_rescued ? [['⛑', 'rescued in the middle of the stream'] as const] : []),
    ...(row.is_cached ? [['≋', 'served from the response cache'] as const] : []),
    ...(row.usage_source === 'estimated' ? [['≈', 'tokens are estimated'] as const] : []),
    ...(row.warnings > 0 ? [[`!${row.warnings}`, `${row.warnings} warnings`] as const] : []),
  ];
}

/** Every column of the list; the first ten are shown until others are chosen. */
export function requestColumns(nowMs: number, keyName: (hash: string) => string): readonly Column<GenerationRow>[] {
  return [
    {
      id: 'time',
      title: `Time, ${nameOfZone()}`,
      width: 98,
      cell: ({ created_at: at }) => mono(formatRowTime(new Date(at), nowMs)),
    },
    { id: 'status', title: 'St', width: 42, cell: (row) => <Status status={row.status} /> },
    {
      id: 'model',
      title: 'Model',
      width: 160,
      grows: true,
      cell: ({ model }) => <span className="font-medium">{named(model)}</span>,
    },
    {
      id: 'provider',
      title: 'Served by',
      width: 96,
      cell: ({ provider, provider_name: name }) => named(labelOfProvider(provider, name) ?? null),
    },
    {
      id: 'key',
      title: 'Key',
      width: 96,
      cell: ({ api_key_hash: hash, api_key_name: name }) => named(name ?? keyName(hash)),
    },
    { id: 'in', title: 'In', width: 70, align: right, cell: ({ tokens_prompt: count }) => mono(formatCount(count)) },
    {
      id: 'out',
      title: 'Out',
      width: 66,
      align: right,
      cell: ({ tokens_completion: count }) => mono(formatCount(count)),
    },
    { id: 'ttft', title: 'TTFT', width: 72, align: right, cell: ({ time_to_first_token: ms }) => mono(formatMs(ms)) },
    { id: 'total', title: 'Total', width: 72, align: right, cell: ({ latency }) => mono(formatMs(latency)) },
    { id: 'cost', title: 'Cost USD', width: 92, align: right, cell: ({ total_cost: usd }) => <Money usd={usd} /> },
    { id: 'session', title: 'Session', width: 90, cell: ({ session_id: id }) => named(id) },
    {
      id: 'notes',
      title: 'Notes',
      width: 70,
      cell: (row) =>
        notesOf(row).map(([sign, words]) => (
          <span key={sign} title={words} className="mr-1.5 text-warn">
            {sign}
            <span className="sr-only">{words}</span>
          </span>
        )),
    },
    { id: 'finish', title: 'Finish', width: 90, cell: ({ finish_reason: reason }) => named(reason) },
    { id: 'requested', title: 'Requested', width: 140, cell: ({ requested_model: model }) => named(model) },
    { id: 'app', title: 'App', width: 110, cell: ({ app_title: title }) => named(title) },
    { id: 'error', title: 'Error', width: 130, cell: ({ error_type: type }) => named(type) },
    {
      id: 'cached',
      title: 'Cached in',
      width: 80,
      align: right,
      cell: ({ native_tokens_cached: count }) => mono(formatCount(count)),
    },
    {
      id: 'reasoning',
      title: 'Reasoning',
      width: 80,
      align: right,
      cell: ({ native_tokens_reasoning: count }) => mono(formatCount(count)),
    },
    { id: 'type', title: 'Kind', width: 90, cell: ({ api_type: type }) => named(type) },
    { id: 'stream', title: 'Stream', width: 60, cell: ({ streamed }) => (streamed ? 'yes' : 'no') },
    { id: 'byok', title: 'BYOK', width: 60, cell: ({ is_byok: isByok }) => (isByok ? 'yes' : 'no') },
    { id: 'router', title: 'Router', width: 110, cell: ({ router }) => named(router) },
    { id: 'task', title: 'Task', width: 100, cell: ({ task_type: task }) => named(task) },
    { id: 'origin', title: 'Made by', width: 90, cell: ({ request_origin: origin }) => named(origin) },
    { id: 'request', title: 'Request id', width: 170, cell: ({ request_id: id }) => mono(id ?? '–') },
    { id: 'id', title: 'Generation id', width: 230, cell: ({ id }) => mono(id) },
  ];
}

const SHOWN = 12;

export function chosenColumns(all: readonly Column<GenerationRow>[], chosen: string): readonly Column<GenerationRow>[] {
  if (chosen === '') return all.slice(0, SHOWN);
  const ids = chosen.split(',');
  return ids.flatMap((id) => all.find((column) => column.id === id) ?? []);
}
