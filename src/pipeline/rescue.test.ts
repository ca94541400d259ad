import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samplePrincipal } from '../accounts/test-principal.ts';
import { transportFailure } from '../canonical/classify-failure.ts';
import type { EventBatch } from '../canonical/events.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { systemClock as clock } from '../lib/clock.ts';
import { priced, requestOf } from '../routing/test-route.ts';
import { GenerationRecord } from '../telemetry/record.ts';
import { createOutcomeWatch, type OutcomeParts } from './note-outcome.ts';
import { rescuing } from './rescue.ts';

const SAID: EventBatch = [
  { type: 'start', format: 'chat' },
  { type: 'block-start', index: 0, block: { type: 'text', text: 'half of' } },
];

/** What health is told of an endpoint whose answer breaks off so, and that nobody has the money to go on with. */
async function toldToHealth(failure: UpstreamFailure, keptUsWaiting: boolean): Promise<readonly UpstreamFailure[]> {
  const told: UpstreamFailure[] = [];
  const request = requestOf({ delivery: 'stream' });
  const record = new GenerationRecord({
    id: 'gen-1',
    request,
    asker: samplePrincipal(),
    endUserId: 'user',
    requested: 'acme/one',
    arrivedMs: 0,
    clock,
  });
  const parts = {
    health: { brokeOff: (_name: string, broken: UpstreamFailure) => told.push(broken) },
  } as unknown as OutcomeParts;
  const outcome = createOutcomeWatch(parts, { session: undefined, request });
  const batches: EventBatch[] = [SAID, [{ type: 'failed', failure }]];
  const first = outcome.committed({
    candidate: { endpoint: priced('alpha', 1), format: 'chat' },
    source: { read: () => Promise.resolve(batches.shift()), cancel: () => undefined },
    startedMs: 0,
    firstTokenMs: 1,
    echoes: [],
  });
  const answer = rescuing(first, {
    providers: new Map(),
    request,
    attempts: { goOn: () => assert.fail('nobody is asked') },
    record,
    outcome,
    signal: new AbortController().signal,
    keptUsWaiting: () => keptUsWaiting,
    fund: () => Promise.resolve(false),
  });
  assert.deepEqual(await answer.source.read(), SAID);
  assert.deepEqual(await answer.source.read(), [{ type: 'failed', failure }], 'the first break stands');
  outcome.ended(record);
  return told;
}

test('an endpoint that hangs up on a caller who does not read is not held to have failed', async () => {
  const reset = transportFailure('reset');
  assert.deepEqual(await toldToHealth(reset, true), []);
  assert.deepEqual(await toldToHealth(reset, false), [reset]);
  const garbage = transportFailure('garbage');
  assert.deepEqual(await toldToHealth(garbage, true), [garbage], 'whoever reads how slowly');
});
