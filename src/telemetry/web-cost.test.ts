import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { NO_USAGE } from '../canonical/usage.ts';
import type { PriceTable } from '../catalog/price.ts';
import type { ServedPart } from './record.ts';
import type { ServerToolUse } from './request-log.ts';
import { webCostOf } from './web-cost.ts';

/** A search is 10,000,000 nano-USD. */
const PRICE: PriceTable = { prompt: 3_000_000, completion: 15_000_000, webSearch: 10_000_000_000 };

function part(webSearchRequests: number, changes: Partial<ServedPart> = {}): ServedPart {
  const usage = { ...NO_USAGE, promptTokens: 1_000, webSearchRequests };
  const cost = { totalNanoUsd: 1, promptNanoUsd: 1, completionNanoUsd: 0 };
  const endpoint = { price: PRICE } as ServedPart['endpoint'];
  return { endpoint, usage, cost, isByok: false, attempt: 1, ...changes };
}

const NOTHING = { served: [], createdMs: 0, serverTools: undefined, pluginFeesNanoUsd: 0, fileFeesNanoUsd: 0 };

suite('what the web cost', () => {
  test("is the cost of the providers' searches at their price, over all parts", () => {
    assert.equal(webCostOf({ ...NOTHING, served: [part(2), part(1)] }), 30_000_000);
  });

  test('is what plugins took, but for files, and what tools took for searches and pages', () => {
    const serverTools = { feeNanoUsd: 90, webFeeNanoUsd: 40 } as ServerToolUse;
    assert.equal(webCostOf({ ...NOTHING, serverTools, pluginFeesNanoUsd: 7, fileFeesNanoUsd: 5 }), 42);
  });

  test("is nothing where the account owes nothing: on the caller's own credential, and where the answer is free", () => {
    const free = { totalNanoUsd: 0, promptNanoUsd: 0, completionNanoUsd: 0 };
    const served = [part(2, { isByok: true }), part(2, { cost: free }), part(2, { cost: undefined }), part(0)];
    assert.equal(webCostOf({ ...NOTHING, served }), null);
  });
});
