import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transportFailure } from '../canonical/classify-failure.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import { createOutcomeWatch } from './note-outcome.ts';
import { sampleEndpoint, sampleRecord } from './test-record.ts';

const SOURCE = { read: () => Promise.resolve(undefined), cancel: () => undefined };

/** What routing learns from an answer that had begun and came to this. */
function told(outcome: (record: GenerationRecord) => void): readonly string[] {
  const heard: string[] = [];
  const record = sampleRecord();
  const watch = createOutcomeWatch(
    {
      health: { brokeOff: () => void heard.push('broke off') },
      stats: { finished: () => void heard.push('finished') },
      sticky: { failed: () => undefined, succeeded: () => undefined },
    },
    { session: undefined, request: record.request },
  );
  const candidate = { endpoint: sampleEndpoint, format: 'chat' } as const;
  watch.committed({ candidate, source: SOURCE, startedMs: 0, firstTokenMs: 0, echoes: [] });
  outcome(record);
  watch.ended(record);
  return heard;
}

const blocked = new GatewayError('permission_denied', 'Answer blocked by content filter.');

test('an endpoint is not blamed for an answer that a filter of the account ends', () => {
  assert.deepEqual(
    told((record) => void (record.error = blocked)),
    [],
  );
});

test('an endpoint whose answer came to its end has finished it, though a filter keeps it from the caller', () => {
  const heard = told((record) => {
    record.end = { type: 'end', finish: 'stop' };
    record.error = blocked;
  });
  assert.deepEqual(heard, ['finished']);
});

test('an endpoint whose answer breaks off is told of', () => {
  const heard = told((record) => {
    record.failure = transportFailure('early-end');
    record.error = new GatewayError('provider_unavailable', 'It broke off.');
  });
  assert.deepEqual(heard, ['broke off']);
});
