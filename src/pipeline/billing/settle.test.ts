import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeoutFailure, transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { Usage } from '../../canonical/usage.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerationRecord } from '../../telemetry/record.ts';
import { encodeCost } from '../../wire/gateway/cost.ts';
import type { FinalUsage } from '../../wire/format.ts';
import type { RequestFacts } from '../request.ts';
import { sampleAttempt, sampleEndpoint, sampleFacts, settledRecord } from '../../../tests/support/settled-record.ts';
import { finalUsageOf, settle } from './settle.ts';

const endpoint = sampleEndpoint;
const usage: Usage = {
  promptTokens: 10,
  completionTokens: 5,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  estimated: false,
};

type Settled = GenerationRecord & { readonly facts: RequestFacts };

function settled(change: (facts: RequestFacts) => void): Settled {
  const facts = sampleFacts();
  change(facts);
  return { ...settledRecord(facts), facts };
}

const finalUsage = (record: Settled): FinalUsage => finalUsageOf(record, record.facts, 'local');

function committed(facts: RequestFacts): void {
  sampleAttempt(facts).commit();
}

// @spec money-1
test('charges a complete response by its usage', () => {
  const record = settled((one) => {
    committed(one);
    one.meter.usage = usage;
    one.meter.end = { type: 'end', finish: 'stop' };
  });
  assert.equal(record.cost?.totalNanoUsd, 20_000);
  assert.equal(finalUsage(record).usage.estimated, false);
});

// @spec money-19
test('estimates a response without usage, and marks the estimate', () => {
  const record = settled((one) => {
    committed(one);
    one.meter.bytes = 400;
    one.meter.end = { type: 'end', finish: 'stop' };
  });
  assert.ok((record.usage?.completionTokens ?? 0) > 50);
  assert.ok((record.usage?.promptTokens ?? 0) > 0);
  assert.equal(record.usage?.estimated, true);
  assert.ok((record.cost?.totalNanoUsd ?? 0) > 0);
});

test('estimates a response with content and no counted token, and keeps the counted prompt', () => {
  const record = settled((one) => {
    committed(one);
    one.meter.usage = { ...usage, completionTokens: 0 };
    one.meter.bytes = 400;
    one.meter.end = { type: 'end', finish: 'stop' };
  });
  assert.equal(record.usage?.promptTokens, usage.promptTokens);
  assert.ok((record.usage?.completionTokens ?? 0) > 50);
  assert.equal(record.usage?.estimated, true);
});

// @spec money-23
test('caps an estimate at the maximum of the response', () => {
  const estimate = (tokensMax: number | undefined): number | undefined =>
    settled((one) => {
      sampleAttempt(one, { endpoint }, { tokensMax: () => tokensMax }).commit();
      one.meter.bytes = 400;
      one.meter.end = { type: 'end', finish: 'length' };
    }).usage?.completionTokens;
  assert.deepEqual([estimate(undefined), estimate(500), estimate(60)], [100, 100, 60]);
});

// @spec money-17
test('charges a caller that hung up for what came, not for the placeholder that the upstream began with', () => {
  const record = settled((one) => {
    committed(one);
    one.meter.usage = { ...usage, completionTokens: 1 };
    one.meter.bytes = 400;
    one.meter.cancelled = true;
  });
  assert.ok((record.usage?.completionTokens ?? 0) > 50);
  assert.ok((record.cost?.completionNanoUsd ?? 0) > 2_000);
});

// @spec money-12
test('charges nothing for a response that broke off, ended in an error, or was empty at the hang-up', () => {
  const broken = settled((one) => {
    committed(one);
    one.meter.usage = usage;
  });
  const failed = settled((one) => {
    committed(one);
    one.meter.usage = usage;
    one.meter.end = { type: 'end', finish: 'error' };
  });
  const silent = settled((one) => {
    committed(one);
    one.meter.cancelled = true;
  });
  const unrouted = settled(() => undefined);
  assert.deepEqual(
    [broken, failed, silent, unrouted].map((record) => record.cost?.totalNanoUsd),
    [0, 0, 0, 0],
  );
});

/** The caller hung up while an endpoint had the request. @param cancellable whether that stops its meter */
function hungUpOn(cancellable: boolean, isSent: boolean, before?: (facts: RequestFacts) => void): Settled {
  return settled((one) => {
    before?.(one);
    const attempt = sampleAttempt(one, { endpoint: { ...endpoint, cancellable } });
    if (isSent) attempt.sent();
    attempt.fail(transportFailure('aborted'));
    one.meter.cancelled = true;
  });
}

// @spec money-13
test('charges nothing for an empty response without a finish reason, and the prompt where it has one', () => {
  const emptyResponse = { ...usage, completionTokens: 0 };
  const [unexplained, explained] = [undefined, 'stop'].map((native) =>
    settled((one) => {
      committed(one);
      one.meter.usage = emptyResponse;
      one.meter.end = { type: 'end', finish: 'stop', ...(native !== undefined && { nativeFinish: native }) };
    }),
  );
  assert.equal(unexplained?.cost?.totalNanoUsd, 0);
  assert.equal(explained?.cost?.totalNanoUsd, 10_000);
});

// @spec money-7
test('charges the parts with a known price where one is unknown, and says so to the caller and in the record', () => {
  const unpriced = { ...endpoint, price: undefined, providerName: 'Beta' };
  const [record, unknown] = [true, false].map((hasKnown) =>
    settled((one) => {
      sampleAttempt(one, { endpoint: hasKnown ? endpoint : unpriced }).commit();
      one.meter.usage = usage;
      one.meter.endTurn(0);
      sampleAttempt(one, { endpoint: unpriced }).commit();
      one.meter.usage = usage;
      one.meter.end = { type: 'end', finish: 'stop' };
    }),
  );
  assert.ok(record !== undefined && unknown !== undefined);
  assert.equal(record.cost?.totalNanoUsd, 20_000);
  assert.deepEqual(
    record.warnings.map(({ code, message }) => [code, /at Beta/.test(message)]),
    [['price-unknown', true]],
  );
  const reported = encodeCost(finalUsage(record));
  assert.equal(reported['cost'], 0.00002);
  assert.deepEqual(Object(reported['cost_details']).is_partial, true);
  assert.deepEqual([unknown.cost, unknown.warnings], [undefined, []]);
  assert.equal(encodeCost(finalUsage(unknown))['cost'], null);
});

test('charges the estimated prompt after a hang-up before the first content, where the provider bills on', () => {
  const owed = hungUpOn(false, true);
  assert.ok((owed.cost?.promptNanoUsd ?? 0) > 0);
  assert.equal(owed.cost?.totalNanoUsd, owed.cost?.promptNanoUsd);
  assert.equal(owed.usage?.estimated, true);
  assert.deepEqual(
    [hungUpOn(true, true), hungUpOn(false, false)].map(({ cost }) => cost?.totalNanoUsd),
    [0, 0],
  );
});

// @spec money-18
test('charges the usual length of a response after a hang-up where the provider bills on, and what came where it does not', () => {
  const cutOff = (cancellable: boolean, expectedTokens: number | undefined, answerBytes: number): GenerationRecord =>
    settled((one) => {
      sampleAttempt(one, { endpoint: { ...endpoint, cancellable } }, { expectedTokens: () => expectedTokens }).commit();
      one.meter.usage = { ...usage, completionTokens: 1 };
      one.meter.bytes = answerBytes;
      one.meter.cancelled = true;
    });
  const tokensOf = ({ usage: counted }: GenerationRecord) => [counted?.completionTokens, counted?.estimated];
  assert.deepEqual(tokensOf(cutOff(false, 500, 80)), [500, true]);
  assert.deepEqual(tokensOf(cutOff(true, 500, 80)), tokensOf(cutOff(true, undefined, 80)));
  assert.deepEqual(tokensOf(cutOff(false, undefined, 80)), tokensOf(cutOff(true, undefined, 80)));
  assert.ok(Number(cutOff(false, 5, 4_000).usage?.completionTokens) > 500, 'never less than what came');
  assert.ok(
    (cutOff(false, 500, 80).cost?.completionNanoUsd ?? 0) > (cutOff(true, 500, 80).cost?.completionNanoUsd ?? 0),
  );
  const unreported = settled((one) => {
    const attempt = sampleAttempt(
      one,
      { endpoint: { ...endpoint, cancellable: false } },
      { expectedTokens: () => 500 },
    );
    attempt.sent();
    attempt.fail(transportFailure('aborted'));
    one.meter.cancelled = true;
  });
  assert.deepEqual(tokensOf(unreported), [500, true], 'before the first content, and of a whole answer, too');
});

test('does not bill on a part that broke off by itself when the caller hangs up on the next', () => {
  const record = settled((one) => {
    sampleAttempt(one, { endpoint: { ...endpoint, cancellable: false } }, { expectedTokens: () => 500 }).commit();
    one.meter.usage = { ...usage, completionTokens: 1 };
    one.meter.bytes = 80;
    const next = sampleAttempt(one, { endpoint: { ...endpoint, cancellable: true } }, { expectedTokens: () => 500 });
    next.sent();
    next.fail(transportFailure('aborted'));
    one.meter.cancelled = true;
  });
  assert.ok(Number(record.usage?.completionTokens) < 100);
});

test('charges what came, and the next prompt, after a hang-up while another endpoint continues', () => {
  const began = (record: RequestFacts): void => {
    committed(record);
    record.meter.usage = usage;
    record.meter.bytes = 80;
  };
  const stopped = hungUpOn(true, true, began);
  const billedOn = hungUpOn(false, true, began);
  const prompt = hungUpOn(false, true).cost?.totalNanoUsd ?? 0;
  assert.ok((stopped.cost?.totalNanoUsd ?? 0) > 0 && prompt > 0);
  assert.equal(billedOn.cost?.totalNanoUsd, (stopped.cost?.totalNanoUsd ?? 0) + prompt);
});

// @spec money-7
test('reports an unknown price as unknown, not as zero', () => {
  const record = settled((one) => {
    sampleAttempt(one, { endpoint: { ...endpoint, price: undefined } }).commit();
    one.meter.usage = usage;
    one.meter.end = { type: 'end', finish: 'stop' };
  });
  assert.equal(finalUsage(record).charge, undefined);
});

/** Begun by one endpoint, which broke off, and gone on with by one that costs twice as much. */
function inTwoParts(change: (facts: RequestFacts) => void): Settled {
  return settled((one) => {
    committed(one);
    one.meter.usage = { ...usage, promptTokens: 40, completionTokens: 1 };
    one.meter.bytes = 80;
    sampleAttempt(one, { endpoint: { ...endpoint, price: { prompt: 2_000_000, completion: 4_000_000 } } }).commit();
    change(one);
  });
}

test('charges each part of a response at its own price, and marks the estimated one', () => {
  const record = inTwoParts((one) => {
    one.meter.usage = usage;
    one.meter.end = { type: 'end', finish: 'stop' };
  });
  assert.deepEqual(
    record.served.map(({ usage: { promptTokens, completionTokens }, cost }) => [
      promptTokens,
      completionTokens,
      cost?.totalNanoUsd,
    ]),
    [
      [40, 20, 80_000],
      [10, 5, 40_000],
    ],
  );
  assert.equal(record.cost?.totalNanoUsd, 120_000);
  assert.deepEqual([record.usage?.promptTokens, record.usage?.completionTokens], [50, 25]);
  assert.equal(record.usage?.estimated, true);
});

test('estimates a second part without usage from what it was given and what it wrote', () => {
  const record = inTwoParts((one) => {
    one.meter.givenBytes = 80;
    one.meter.bytes = 8;
    one.meter.end = { type: 'end', finish: 'stop' };
  });
  const alone = settled((one) => {
    committed(one);
    one.meter.end = { type: 'end', finish: 'stop' };
  });
  const second = record.served[1]?.usage;
  assert.deepEqual([second?.promptTokens, second?.completionTokens], [(alone.usage?.promptTokens ?? 0) + 20, 2]);
});

test('charges nothing for either part of a response that an error ended', () => {
  const record = inTwoParts((one) => {
    one.meter.usage = usage;
  });
  assert.deepEqual([record.cost?.totalNanoUsd, ...record.served.map(({ cost }) => cost?.totalNanoUsd)], [0, 0, 0]);
});

const NO_RESERVATION = { close: () => undefined };

// @spec money-25
test('releases the reservation after the charge is durable', async () => {
  const steps: string[] = [];
  const facts = sampleFacts();
  committed(facts);
  facts.meter.usage = usage;
  facts.meter.end = { type: 'end', finish: 'stop' };
  const deps = {
    store: async () => void steps.push('stored'),
    observe: () => void steps.push('observed'),
    clock: { monotonicMs: () => 0 },
  };
  const { durable } = settle(deps, facts, {
    close: () => async (charge, used) =>
      void steps.push(`${charge.ownNanoUsd} ${charge.byokNanoUsd}, ${used?.promptTokens} tokens`),
  });
  await durable;
  steps.push('went on');
  assert.deepEqual(steps, ['stored', 'observed', '20000 0, 10 tokens', 'went on']);
});

// @spec generation-13
test('stores no row of a request over the rate limit, unless it owes a fee', async () => {
  const stored: GenerationRecord[] = [];
  const deps = {
    store: (record: GenerationRecord) => Promise.resolve(void stored.push(record)),
    observe: () => undefined,
    clock: { monotonicMs: () => 0 },
  };
  const rateLimit = { limit: 1, remaining: 0, resetAtMs: 0 };
  const refused = (feeNanoUsd: number): RequestFacts => {
    const facts = sampleFacts();
    facts.log.error = new GatewayError('rate_limit_exceeded', 'Too fast.', { rateLimit });
    facts.log.chargePlugin(feeNanoUsd, 'web');
    return facts;
  };
  await settle(deps, refused(0), NO_RESERVATION).durable;
  assert.equal(stored.length, 0);
  await settle(deps, refused(4_000_000), NO_RESERVATION).durable;
  assert.deepEqual(
    stored.map(({ cost }) => cost?.totalNanoUsd),
    [4_000_000],
  );
});

// @spec money-14
test('waives fees of plugins where upstreams alone failed without a token', () => {
  const failed = (change: (facts: RequestFacts) => void): number | undefined =>
    settled((one) => {
      one.log.pluginFeesNanoUsd = 4_000_000;
      sampleAttempt(one).fail(transportFailure('reset'));
      change(one);
    }).cost?.totalNanoUsd;
  const nothing = (): void => undefined;
  assert.equal(failed(nothing), 0);
  assert.equal(
    failed((one) => (one.meter.cancelled = true)),
    4_000_000,
  );
  assert.equal(
    failed((one) => (one.meter.failure = timeoutFailure('total'))),
    4_000_000,
  );
  assert.equal(
    failed((one) => (one.meter.failure = { ...transportFailure('reset'), status: 400 })),
    4_000_000,
  );
  assert.equal(
    failed((one) => (one.meter.failure = { ...transportFailure('reset'), status: 429 })),
    0,
  );
  const answered = failed((one) => {
    committed(one);
    one.meter.usage = usage;
    one.meter.end = { type: 'end', finish: 'stop' };
  });
  assert.equal(answered, 4_020_000);
});

// @spec money-16
test('charges a response that a filter of the account ends, as far as it came', () => {
  const record = settled((one) => {
    committed(one);
    one.meter.bytes = 40;
    one.log.error = new GatewayError('permission_denied', 'Response blocked by content filter.');
  });
  assert.equal(record.usage?.completionTokens, 10);
  assert.ok((record.cost?.totalNanoUsd ?? 0) > 0);
});
