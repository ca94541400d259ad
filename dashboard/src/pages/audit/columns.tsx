import type { ItemOf, Schemas } from '../../api/client.ts';
import type { Column } from '../../parts/grid.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { formatMoment } from '../../parts/time.ts';
import { nameOfZone } from '../../parts/preferences/zone.ts';

export type AuditEvent = ItemOf<Schemas['ListAuditEventsResponse']>;

export const auditColumns = (): readonly Column<AuditEvent>[] => [
  {
    id: 'time',
    title: `Time, ${nameOfZone()}`,
    width: 160,
    cell: ({ at }) => <span className="font-mono text-xs">{formatMoment(new Date(at)).slice(0, 19)}</span>,
  },
  {
    id: 'age',
    title: 'Age',
    width: 90,
    cell: ({ at }) => (
      <span className="text-dim">
        <Ago at={at} />
      </span>
    ),
  },
  { id: 'actor', title: 'Actor', width: 180, cell: ({ actor }) => <Name>{actor.label}</Name> },
  { id: 'action', title: 'Action', width: 190, cell: ({ action }) => <span className="font-medium">{action}</span> },
  {
    id: 'subject',
    title: 'Subject',
    width: 220,
    cell: ({ subject }) => <span className="font-mono text-xs">{subject}</span>,
  },
  {
    id: 'changes',
    title: 'Changes',
    width: 260,
    grows: true,
    cell: ({ changes }) => <span className="font-mono text-xs text-dim">{summaryOf(changes)}</span>,
  },
];

/** `limit 10 → 20, name`, as far as a row has room. */
function summaryOf(changes: AuditEvent['changes']): string {
  return Object.entries(changes)
    .map(([name, value]) =>
      isChange(value) ? `${name} ${show(value.from)} → ${show(value.to)}` : `${name} ${show(value)}`,
    )
    .join(', ');
}

function isChange(value: unknown): value is { readonly from: unknown; readonly to: unknown } {
  return typeof value === 'object' && value !== null && 'from' in value && 'to' in value;
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
