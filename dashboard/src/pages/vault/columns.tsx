import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Ago, Name } from '../../parts/text.tsx';

export type Secret = Schemas['VaultSecret'];
export type Release = Schemas['VaultRelease'];

export const SECRET_COLUMNS: readonly Column<Secret>[] = [
  {
    id: 'name',
    title: 'Secret',
    width: 180,
    cell: ({ name }) => (
      <span className="font-mono text-xs font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  { id: 'hosts', title: 'Hosts', width: 260, grows: true, cell: ({ hosts }) => <Name>{hostsOf(hosts)}</Name> },
  {
    id: 'fingerprint',
    title: 'Fingerprint',
    width: 150,
    cell: ({ fingerprint, backend }) => (
      <span className="font-mono text-xs text-dim">
        {fingerprint ?? (backend === 'builtin' ? '–' : `at ${backend}`)}
      </span>
    ),
  },
  {
    id: 'changed',
    title: 'Value changed',
    width: 120,
    cell: ({ updated_at: at, is_stale: isOld }) => (
      <span className={isOld ? 'text-warn' : ''} title={isOld ? 'Older than vault.max_age_days' : undefined}>
        <Ago at={at} />
        {isOld && ' (old)'}
      </span>
    ),
  },
  { id: 'used', title: 'Last sent', width: 110, cell: ({ last_released_at: at }) => <Ago at={at} /> },
];

export const RELEASE_COLUMNS: readonly Column<Release>[] = [
  { id: 'at', title: 'Last in its hour', width: 120, cell: ({ at }) => <Ago at={at} /> },
  {
    id: 'name',
    title: 'Secret',
    width: 180,
    cell: ({ name }) => (
      <span className="font-mono text-xs font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  {
    id: 'verdict',
    title: 'Verdict',
    width: 90,
    cell: ({ verdict }) => <Badge tone={verdict === 'released' ? 'good' : 'bad'}>{verdict}</Badge>,
  },
  { id: 'count', title: 'Times', width: 70, align: 'right', cell: ({ count }) => formatCount(count) },
  { id: 'host', title: 'Host', width: 220, grows: true, cell: ({ host }) => <Name>{host}</Name> },
  { id: 'caller', title: 'For', width: 180, cell: ({ caller }) => <Name>{caller}</Name> },
  {
    id: 'key',
    title: 'Key',
    width: 120,
    cell: ({ key_hash: hash }) => <span className="font-mono text-xs text-dim">{hash?.slice(0, 12) ?? '–'}</span>,
  },
];

export function hostsOf(hosts: Secret['hosts']): string {
  return hosts?.join(', ') ?? 'none';
}
