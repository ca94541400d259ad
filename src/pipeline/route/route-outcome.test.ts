import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { RequestFacts } from '../request.ts';
import { sampleEndpoint, sampleFacts, settledRecord } from '../../../tests/support/settled-record.ts';
import { RouteOutcome } from './route-outcome.ts';

const SOURCE = { read: () => Promise.resolve(undefined), cancel: () => undefined };

/** What routing learns from an answer that had begun and came to this. */
function reported(outcome: (facts: RequestFacts) => void): readonly string[] {
  const received: string[] = [];
  const facts = sampleFacts();
  const watch = new RouteOutcome(
    {
      health: { brokeOff: () => void received.push('broke off') },
      stats: { finished: () => void received.push('finished') },
      sticky: { failed: () => undefined, succeeded: () => undefined },
    },
    { session: undefined, request: facts.log.request },
  );
  const candidate = { endpoint: sampleEndpoint, format: 'chat' } as const;
  watch.committed({ candidate, source: SOURCE, startedMs: 0, firstTokenMs: 0, echoes: [] });
  outcome(facts);
  watch.ended(settledRecord(facts));
  return received;
}

const blocked = new GatewayError('permission_denied', 'Response blocked by content filter.');

test('does not blame an endpoint for a response that a filter of the account ends', () => {
  assert.deepEqual(
    reported(({ log }) => void (log.error = blocked)),
    [],
  );
});

test('counts a complete response as finished by its endpoint, though a filter keeps it from the caller', () => {
  const received = reported(({ log, meter }) => {
    meter.end = { type: 'end', finish: 'stop' };
    log.error = blocked;
  });
  assert.deepEqual(received, ['finished']);
});

test('reports an endpoint whose response breaks off', () => {
  const received = reported(({ log, meter }) => {
    meter.failure = transportFailure('early-end');
    log.error = new GatewayError('provider_unavailable', 'It broke off.');
  });
  assert.deepEqual(received, ['broke off']);
});
