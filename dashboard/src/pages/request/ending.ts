import type { Tone } from '../../parts/badge.tsx';

interface Ended {
  readonly finish_reason: string | null;
  readonly cancelled: boolean;
  readonly provider_responses: readonly { readonly status: number | null }[];
}

/** How a request ended, in words. What no provider served has no reason of its own: its last attempt has. */
export function endingOf({
  finish_reason: finish,
  cancelled,
  provider_responses: attempts,
}: Ended): readonly [string, Tone] {
  if (cancelled) return ['cancelled', 'warn'];
  if (finish !== null) return [finish, finish === 'error' ? 'bad' : 'good'];
  const last = attempts.at(-1);
  if (last === undefined) return ['refused before any provider', 'bad'];
  if (last.status === null) return ['no provider was reached', 'bad'];
  return last.status >= 400 ? [`failed with ${last.status}`, 'bad'] : ['served', 'good'];
}
