import type { ClipFilters, ClipStatus } from '../../api/clips.ts';
import type { Search } from '../../parts/search.ts';

export const STATUSES = [
  'pending',
  'in_progress',
  'completed',
  'failed',
  'cancelled',
  'expired',
] as const satisfies readonly ClipStatus[];

export interface ClipsSearch {
  readonly filters: ClipFilters;
  readonly peek: string;
}

export function parseClipsSearch({ status: named, model, workspace, peek = '' }: Search): ClipsSearch {
  const status = STATUSES.find((one) => one === named);
  return {
    filters: {
      ...(status !== undefined && { status }),
      ...(model !== undefined && { model }),
      ...(workspace !== undefined && { workspace }),
    },
    peek,
  };
}
