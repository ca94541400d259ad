import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { EventBatch } from '../../canonical/events.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { priced, requestOf } from '../../../tests/support/route-plan.ts';
import { RouteOutcome, type OutcomeDeps } from '../route/route-outcome.ts';
import { sampleFacts, settledRecord } from '../../../tests/support/settled-record.ts';
import { continuing } from './failover.ts';
import { Cancellation } from '../../lib/async/cancellation.ts';

const STATED: EventBatch = [
  { type: 'start', format: 'chat' },
  { type: 'block-start', index: 0, block: { type: 'text', text: 'half of' } },
];

/** What health learns of an endpoint whose response breaks off so, where no money is left to continue it. */
async function reportedToHealth(failure: UpstreamFailure, wasCallerSlow: boolean): Promise<readonly UpstreamFailure[]> {
  const reported: UpstreamFailure[] = [];
  const request = requestOf({ delivery: 'stream' });
  const facts = sampleFacts(request);
  const deps = {
    health: { brokeOff: (_name: string, broken: UpstreamFailure) => reported.push(broken) },
  } as unknown as OutcomeDeps;
  const outcome = new RouteOutcome(deps, { session: undefined, request });
  const batches: EventBatch[] = [STATED, [{ type: 'failed', failure }]];
  const first = outcome.committed({
    candidate: { endpoint: priced('alpha', 1), format: 'chat' },
    source: { read: () => Promise.resolve(batches.shift()), cancel: () => undefined },
    startedMs: 0,
    firstTokenMs: 1,
    echoes: [],
  });
  const answer = continuing(first, {
    providers: new Map(),
    request,
    fallback: { continueAfter: () => assert.fail('no candidate is called') },
    facts,
    outcome,
    cancellation: new Cancellation(),
    wasCallerSlow: () => wasCallerSlow,
    reserve: () => Promise.resolve(false),
  });
  assert.deepEqual(await answer.source.read(), STATED);
  assert.deepEqual(await answer.source.read(), [{ type: 'failed', failure }], 'the first break stands');
  outcome.ended(settledRecord(facts));
  return reported;
}

test('counts no failure of an endpoint that hangs up on a caller that does not read', async () => {
  const reset = transportFailure('reset');
  assert.deepEqual(await reportedToHealth(reset, true), []);
  assert.deepEqual(await reportedToHealth(reset, false), [reset]);
  const garbage = transportFailure('garbage');
  assert.deepEqual(await reportedToHealth(garbage, true), [garbage], 'however slowly the caller reads');
});
