import type { Endpoint } from './model.ts';

/** Nothing that was sent is kept. An unknown policy counts as keeping. @spec route-10, catalog-17 */
export function keepsNothing({ dataPolicy }: Endpoint): boolean {
  return dataPolicy.retentionDays === 0;
}
