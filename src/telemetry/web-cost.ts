import { costOf } from '../catalog/price.ts';
import { servedPrice } from '../catalog/served-price.ts';
import type { GenerationRecord } from './record.ts';

type Charged = Pick<GenerationRecord, 'served' | 'createdMs' | 'serverTools' | 'pluginFeesNanoUsd' | 'fileFeesNanoUsd'>;

/**
 * What the account owes for the web, nano-USD: fees of searches and pages, and searches that providers ran at a price.
 * `null`: nothing.
 */
export function webCostOf({
  served,
  createdMs,
  serverTools,
  pluginFeesNanoUsd,
  fileFeesNanoUsd,
}: Charged): number | null {
  let nanoUsd = pluginFeesNanoUsd - fileFeesNanoUsd + (serverTools?.webFeeNanoUsd ?? 0);
  for (const { endpoint, usage, cost, isByok } of served) {
    // Searches of a provider cost nothing for BYOK and free models.
    if (isByok || cost === undefined || cost.totalNanoUsd === 0 || !usage.webSearchRequests) continue;
    const price = servedPrice(endpoint, usage);
    if (price === undefined) continue;
    const moment = { atMs: createdMs };
    const { webSearchRequests: _searches, ...without } = usage;
    nanoUsd += costOf(price, usage, moment).totalNanoUsd - costOf(price, without, moment).totalNanoUsd;
  }
  return nanoUsd === 0 ? null : nanoUsd;
}
