import type { Endpoint } from './model.ts';

/** Nothing that was sent is kept. An unknown policy counts as keeping. @source generation.md 3.1 `zdr` */
export function keepsNothing({ dataPolicy }: Endpoint): boolean {
  return dataPolicy.retentionDays === 0;
}
