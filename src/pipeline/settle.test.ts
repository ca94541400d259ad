import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeoutFailure, transportFailure } from '../canonical/classify-failure.ts';
import type { Usage } from '../canonical/usage.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import { drawCost } from '../wire/gateway/cost.ts';
import { closingOf, createSettle } from './settle.ts';
import { sampleEndpoint, sampleRecord } from './test-record.ts';

const endpoint = sampleEndpoint;
const usage: Usage = {
  promptTokens: 10,
  completionTokens: 5,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  estimated: false,
};

const NO_LEDGER = { settle: () => Promise.reject(new Error('nothing was held')) };

function settled(change: (record: GenerationRecord) => void): GenerationRecord {
  const record = sampleRecord();
  change(record);
  void createSettle({ store: () => Promise.resolve(), observe: () => undefined, ledger: NO_LEDGER })(record, undefined);
  return record;
}

function committed(record: GenerationRecord): void {
  record.openAttempt({ endpoint }).commit();
}

test('a complete answer costs what its usage says', () => {
  const record = settled((one) => {
    committed(one);
    one.usage = usage;
    one.end = { type: 'end', finish: 'stop' };
  });
  assert.equal(record.cost?.totalNanoUsd, 20_000);
  assert.equal(closingOf(record, 'local').usage.estimated, false);
});

test('an answer without usage is estimated, and says so', () => {
  const record = settled((one) => {
    committed(one);
    one.answerBytes = 400;
    one.end = { type: 'end', finish: 'stop' };
  });
  assert.ok((record.usage?.completionTokens ?? 0) > 50);
  assert.ok((record.usage?.promptTokens ?? 0) > 0);
  assert.equal(record.usage?.estimated, true);
  assert.ok((record.cost?.totalNanoUsd ?? 0) > 0);
});

test('an answer that says something, of which its upstream counts no token, is estimated, and its prompt is as counted', () => {
  const record = settled((one) => {
    committed(one);
    one.usage = { ...usage, completionTokens: 0 };
    one.answerBytes = 400;
    one.end = { type: 'end', finish: 'stop' };
  });
  assert.equal(record.usage?.promptTokens, usage.promptTokens);
  assert.ok((record.usage?.completionTokens ?? 0) > 50);
  assert.equal(record.usage?.estimated, true);
});

test('an estimate is never more than the answer was allowed to become', () => {
  const estimate = (tokensMax: number | undefined): number | undefined =>
    settled((one) => {
      one.openAttempt({ endpoint }, { tokensMax: () => tokensMax }).commit();
      one.answerBytes = 400;
      one.end = { type: 'end', finish: 'length' };
    }).usage?.completionTokens;
  assert.deepEqual([estimate(undefined), estimate(500), estimate(60)], [100, 100, 60]);
});

test('a caller who hung up owes what came, not the placeholder that the upstream began with', () => {
  const record = settled((one) => {
    committed(one);
    one.usage = { ...usage, completionTokens: 1 };
    one.answerBytes = 400;
    one.cancelled = true;
  });
  assert.ok((record.usage?.completionTokens ?? 0) > 50);
  assert.ok((record.cost?.completionNanoUsd ?? 0) > 2_000);
});

test('nothing is owed for an answer that broke off, that ended in an error, or that said nothing before the hang-up', () => {
  const broken = settled((one) => {
    committed(one);
    one.usage = usage;
  });
  const failed = settled((one) => {
    committed(one);
    one.usage = usage;
    one.end = { type: 'end', finish: 'error' };
  });
  const silent = settled((one) => {
    committed(one);
    one.cancelled = true;
  });
  const unrouted = settled(() => undefined);
  assert.deepEqual(
    [broken, failed, silent, unrouted].map((record) => record.cost?.totalNanoUsd),
    [0, 0, 0, 0],
  );
});

/** The caller hung up while an endpoint had the request. @param cancellable whether that stops its meter */
function hungUpOn(
  cancellable: boolean,
  isSent: boolean,
  before?: (record: GenerationRecord) => void,
): GenerationRecord {
  return settled((one) => {
    before?.(one);
    const attempt = one.openAttempt({ endpoint: { ...endpoint, cancellable } });
    if (isSent) attempt.sent();
    attempt.fail(transportFailure('aborted'));
    one.cancelled = true;
  });
}

test('nothing is owed for an answer of no tokens for whose end no reason was given, and the prompt where one was', () => {
  const saidNothing = { ...usage, completionTokens: 0 };
  const [unexplained, explained] = [undefined, 'stop'].map((native) =>
    settled((one) => {
      committed(one);
      one.usage = saidNothing;
      one.end = { type: 'end', finish: 'stop', ...(native !== undefined && { nativeFinish: native }) };
    }),
  );
  assert.equal(unexplained?.cost?.totalNanoUsd, 0);
  assert.equal(explained?.cost?.totalNanoUsd, 10_000);
});

test('a part of which nobody knows the price leaves the cost of the others, which says so to the caller and in the record', () => {
  const unpriced = { ...endpoint, price: undefined, providerName: 'Beta' };
  const [record, unknown] = [true, false].map((hasKnown) =>
    settled((one) => {
      one.openAttempt({ endpoint: hasKnown ? endpoint : unpriced }).commit();
      one.usage = usage;
      one.endTurn();
      one.openAttempt({ endpoint: unpriced }).commit();
      one.usage = usage;
      one.end = { type: 'end', finish: 'stop' };
    }),
  );
  assert.ok(record !== undefined && unknown !== undefined);
  assert.equal(record.cost?.totalNanoUsd, 20_000);
  assert.deepEqual(
    record.warnings.map(({ code, message }) => [code, /at Beta/.test(message)]),
    [['price-unknown', true]],
  );
  const told = drawCost(closingOf(record, 'local'));
  assert.equal(told['cost'], 0.00002);
  assert.deepEqual(Object(told['cost_details']).is_partial, true);
  assert.deepEqual([unknown.cost, unknown.warnings], [undefined, []]);
  assert.equal(drawCost(closingOf(unknown, 'local'))['cost'], null);
});

test('a caller who hung up before the first content owes the prompt, as an estimate, where the provider bills on', () => {
  const owed = hungUpOn(false, true);
  assert.ok((owed.cost?.promptNanoUsd ?? 0) > 0);
  assert.equal(owed.cost?.totalNanoUsd, owed.cost?.promptNanoUsd);
  assert.equal(owed.usage?.estimated, true);
  assert.deepEqual(
    [hungUpOn(true, true), hungUpOn(false, false)].map(({ cost }) => cost?.totalNanoUsd),
    [0, 0],
  );
});

test('a caller who hung up owes the usual length of an answer where the provider bills on, and what came where it does not', () => {
  const cutOff = (cancellable: boolean, expectedTokens: number | undefined, answerBytes: number): GenerationRecord =>
    settled((one) => {
      one.openAttempt({ endpoint: { ...endpoint, cancellable } }, { expectedTokens: () => expectedTokens }).commit();
      one.usage = { ...usage, completionTokens: 1 };
      one.answerBytes = answerBytes;
      one.cancelled = true;
    });
  const tokensOf = ({ usage: counted }: GenerationRecord) => [counted?.completionTokens, counted?.estimated];
  assert.deepEqual(tokensOf(cutOff(false, 500, 80)), [500, true]);
  assert.deepEqual(tokensOf(cutOff(true, 500, 80)), tokensOf(cutOff(true, undefined, 80)));
  assert.deepEqual(tokensOf(cutOff(false, undefined, 80)), tokensOf(cutOff(true, undefined, 80)));
  assert.ok(Number(cutOff(false, 5, 4_000).usage?.completionTokens) > 500, 'never less than what came');
  assert.ok(
    (cutOff(false, 500, 80).cost?.completionNanoUsd ?? 0) > (cutOff(true, 500, 80).cost?.completionNanoUsd ?? 0),
  );
  const unheard = settled((one) => {
    const attempt = one.openAttempt({ endpoint: { ...endpoint, cancellable: false } }, { expectedTokens: () => 500 });
    attempt.sent();
    attempt.fail(transportFailure('aborted'));
    one.cancelled = true;
  });
  assert.deepEqual(tokensOf(unheard), [500, true], 'before the first content, and of a whole answer, too');
});

test('a part that broke off by itself is not taken for one that goes on when the caller hangs up on the next', () => {
  const record = settled((one) => {
    one.openAttempt({ endpoint: { ...endpoint, cancellable: false } }, { expectedTokens: () => 500 }).commit();
    one.usage = { ...usage, completionTokens: 1 };
    one.answerBytes = 80;
    const next = one.openAttempt({ endpoint: { ...endpoint, cancellable: true } }, { expectedTokens: () => 500 });
    next.sent();
    next.fail(transportFailure('aborted'));
    one.cancelled = true;
  });
  assert.ok(Number(record.usage?.completionTokens) < 100);
});

test('a caller who hung up while another endpoint was asked to go on owes what came, and that prompt', () => {
  const began = (record: GenerationRecord): void => {
    committed(record);
    record.usage = usage;
    record.answerBytes = 80;
  };
  const stopped = hungUpOn(true, true, began);
  const billedOn = hungUpOn(false, true, began);
  const prompt = hungUpOn(false, true).cost?.totalNanoUsd ?? 0;
  assert.ok((stopped.cost?.totalNanoUsd ?? 0) > 0 && prompt > 0);
  assert.equal(billedOn.cost?.totalNanoUsd, (stopped.cost?.totalNanoUsd ?? 0) + prompt);
});

test('an unknown price is unknown, not zero', () => {
  const record = settled((one) => {
    one.openAttempt({ endpoint: { ...endpoint, price: undefined } }).commit();
    one.usage = usage;
    one.end = { type: 'end', finish: 'stop' };
  });
  assert.equal(closingOf(record, 'local').charge, undefined);
});

/** Begun by one endpoint, which broke off, and gone on with by one that costs twice as much. */
function inTwoParts(change: (record: GenerationRecord) => void): GenerationRecord {
  return settled((one) => {
    committed(one);
    one.usage = { ...usage, promptTokens: 40, completionTokens: 1 };
    one.answerBytes = 80;
    one.openAttempt({ endpoint: { ...endpoint, price: { prompt: 2_000_000, completion: 4_000_000 } } }).commit();
    change(one);
  });
}

test('an answer of two parts costs what each of them took, at its own price, and says that one is an estimate', () => {
  const record = inTwoParts((one) => {
    one.usage = usage;
    one.end = { type: 'end', finish: 'stop' };
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

test('a second part that tells no usage is estimated from what it was given and what it wrote', () => {
  const record = inTwoParts((one) => {
    one.givenBytes = 80;
    one.answerBytes = 8;
    one.end = { type: 'end', finish: 'stop' };
  });
  const alone = settled((one) => {
    committed(one);
    one.end = { type: 'end', finish: 'stop' };
  });
  const second = record.served[1]?.usage;
  assert.deepEqual([second?.promptTokens, second?.completionTokens], [(alone.usage?.promptTokens ?? 0) + 20, 2]);
});

test('nothing is owed for either part of an answer that an error ended after all', () => {
  const record = inTwoParts((one) => {
    one.usage = usage;
  });
  assert.deepEqual([record.cost?.totalNanoUsd, ...record.served.map(({ cost }) => cost?.totalNanoUsd)], [0, 0, 0]);
});

test('a generation is settled once, and everybody waits for that once', async () => {
  let stored = 0;
  let observed = 0;
  const gate = Promise.withResolvers<void>();
  const settle = createSettle({
    store: () => {
      stored++;
      return gate.promise;
    },
    observe: () => void observed++,
    ledger: NO_LEDGER,
  });
  const record = sampleRecord();
  const both = Promise.all([settle(record, undefined), settle(record, undefined)]);
  gate.resolve();
  await both;
  assert.deepEqual([stored, observed], [1, 1]);
});

test('what was held is freed once, after the charge is durable and before anybody goes on', async () => {
  const steps: string[] = [];
  const settle = createSettle({
    store: async () => void steps.push('stored'),
    observe: () => undefined,
    ledger: {
      settle: async ({ id }, charge) => void steps.push(`${id} ${charge.ownNanoUsd} ${charge.byokNanoUsd}`),
    },
  });
  const record = sampleRecord();
  committed(record);
  record.usage = usage;
  record.end = { type: 'end', finish: 'stop' };
  const hold = { id: 'gen-1', counted: [] };
  const passage = {
    ended: async (used?: { readonly promptTokens: number }) => void steps.push(`${used?.promptTokens} tokens`),
  };
  await Promise.all([settle(record, hold, passage), settle(record, hold, passage)]);
  steps.push('went on');
  assert.deepEqual(steps, ['stored', 'gen-1 20000 0', '10 tokens', 'went on']);
});

test('who sends too fast leaves no row, unless something was paid for before that', async () => {
  const stored: GenerationRecord[] = [];
  const settle = createSettle({
    store: (record) => Promise.resolve(void stored.push(record)),
    observe: () => undefined,
    ledger: NO_LEDGER,
  });
  const rateLimit = { limit: 1, remaining: 0, resetAtMs: 0 };
  const refused = (feeNanoUsd: number): GenerationRecord => {
    const record = sampleRecord();
    record.error = new GatewayError('rate_limit_exceeded', 'Too fast.', { rateLimit });
    record.pluginFeesNanoUsd = feeNanoUsd;
    return record;
  };
  await settle(refused(0), undefined);
  assert.equal(stored.length, 0);
  await settle(refused(4_000_000), undefined);
  assert.deepEqual(
    stored.map(({ cost }) => cost?.totalNanoUsd),
    [4_000_000],
  );
});

test('fees of plugins are waived where upstreams failed without a token, and by nobody else’s doing', () => {
  const failed = (change: (record: GenerationRecord) => void): number | undefined =>
    settled((one) => {
      one.pluginFeesNanoUsd = 4_000_000;
      one.openAttempt({ endpoint }).fail(transportFailure('reset'));
      change(one);
    }).cost?.totalNanoUsd;
  const nothing = (): void => undefined;
  assert.equal(failed(nothing), 0);
  assert.equal(
    failed((one) => (one.cancelled = true)),
    4_000_000,
  );
  assert.equal(
    failed((one) => (one.failure = timeoutFailure('total'))),
    4_000_000,
  );
  assert.equal(
    failed((one) => (one.failure = { ...transportFailure('reset'), status: 400 })),
    4_000_000,
  );
  assert.equal(
    failed((one) => (one.failure = { ...transportFailure('reset'), status: 429 })),
    0,
  );
  const answered = failed((one) => {
    committed(one);
    one.usage = usage;
    one.end = { type: 'end', finish: 'stop' };
  });
  assert.equal(answered, 4_020_000);
});

test('an answer that a filter of the account ends is owed as far as it came', () => {
  const record = settled((one) => {
    committed(one);
    one.answerBytes = 40;
    one.error = new GatewayError('permission_denied', 'Answer blocked by content filter.');
  });
  assert.equal(record.usage?.completionTokens, 10);
  assert.ok((record.cost?.totalNanoUsd ?? 0) > 0);
});
