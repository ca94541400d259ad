import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleGeneration } from '../../../../tests/support/store/generations.ts';
import type { LiveDestination } from '../destinations.ts';
import { readPage } from './read-page.ts';

const ENDED_MS = 1_790_000_000_201;

/** The message of a failed generation, as a destination receives it. */
async function messageAt({ isKept, hasContent, privacyMode }: Readonly<Record<string, boolean>>) {
  const row = { id: 'd', apiKeyHashes: null, samplingPpm: 1_000_000, privacyMode, sendsCost: false };
  const generation = sampleGeneration({ errorType: 'upstream_error', errorMessage: 'quotes a prompt', status: 502 });
  const [item] = await readPage(
    [{ xid: 0, seq: 1, generation, endedMs: ENDED_MS, facts: JSON.stringify({ hasContent }) }],
    {
      live: { row, type: {}, filterRules: null } as unknown as LiveDestination,
      switches: { isBroadcastEnabled: true, isIoLoggingEnabled: isKept === true },
      findContent: () => Promise.resolve(undefined),
      patterns: { search: () => Promise.resolve([]) },
      nowMs: ENDED_MS + 60_000,
      ageMsMax: Infinity,
    },
  );
  return item?.generation?.error;
}

// @spec destination-5
test('sends the message of an error only where the workspace keeps content and the destination may have it', async () => {
  const whole = { type: 'upstream_error', message: 'quotes a prompt' };
  assert.deepEqual(await messageAt({ isKept: true, hasContent: true, privacyMode: false }), whole);
  for (const without of [
    { isKept: false, hasContent: true, privacyMode: false },
    { isKept: true, hasContent: false, privacyMode: false },
    { isKept: true, hasContent: true, privacyMode: true },
  ])
    assert.deepEqual(await messageAt(without), { type: 'upstream_error' }, JSON.stringify(without));
});
