import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TEST_SETTINGS } from '../../../../tests/support/providers/call.ts';
import type { ImageOperation } from '../../../canonical/image.ts';
import { Cancellation } from '../../../lib/async/cancellation.ts';
import { createByteBudget } from '../../../lib/memory/byte-budget.ts';
import { DownloadError, type Download } from '../../../lib/net/download.ts';
import { AnswerMemory } from '../answer-memory.ts';
import type { CandidateCall } from '../call-candidates.ts';
import { fetchResult, type FetchResultDeps } from './fetch-result.ts';

const BYTES = 300 * 1_024;

function setUp(budgetBytes = 40 * BYTES) {
  const budget = createByteBudget({ bytesMax: budgetBytes, waitMs: 5, waitingMax: 8 });
  const cancellation = new Cancellation<'gone' | 'total' | 'over'>();
  const memory = new AnswerMemory(budget);
  const call = {
    provider: { settings: TEST_SETTINGS },
    cancellation,
    memory,
  } as unknown as CandidateCall<ImageOperation>;
  const fetch = (download: Download) =>
    fetchResult(
      { download } as unknown as FetchResultDeps,
      { url: 'https://pictures.example.com/1.png', bytesMax: BYTES, context: {} as never },
      call,
    );
  return { budget, cancellation, memory, fetch };
}

const give: Download = async (_url, { memory }) => {
  await memory?.hold(2 * BYTES);
  return { bytes: Buffer.alloc(BYTES, 1) };
};

describe('a picture at an address that an upstream gave', () => {
  test('takes of the memory for answers as long as the caller may need it', async () => {
    const { budget, memory, fetch } = setUp();
    const base64 = await fetch(give);
    assert.ok(Buffer.isBuffer(base64));
    assert.equal(base64.toString('latin1'), Buffer.alloc(BYTES, 1).toString('base64'));
    assert.equal(budget.taken, base64.length);
    memory.close();
    assert.equal(budget.taken, 0);
  });

  test('is 503 where there is no memory for it, and no fault of the provider', async () => {
    const { fetch } = setUp(BYTES);
    assert.partialDeepStrictEqual(await fetch(give), { status: 503, errorType: 'provider_overloaded' });
  });

  for (const [reason, kind] of [
    ['gone', 'aborted'],
    ['total', 'timeout'],
  ] as const)
    test(`is ${kind} where the request is over while it is fetched: ${reason}`, async () => {
      const { cancellation, fetch } = setUp();
      const hanging: Download = (_url, _limits, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new DownloadError('The address could not be reached.')));
        });
      const fetched = fetch(hanging);
      cancellation.abort(reason);
      assert.partialDeepStrictEqual(await fetched, { kind });
    });

  test('is garbage, with the reason, where it cannot be had', async () => {
    const failed = await setUp().fetch(() => Promise.reject(new DownloadError('The file is larger than 1 bytes.')));
    assert.partialDeepStrictEqual(failed, {
      kind: 'garbage',
      status: 502,
      message: 'A picture that the provider gave by its address could not be fetched: The file is larger than 1 bytes.',
    });
  });

  test('lets a bug through', async () => {
    await assert.rejects(
      setUp().fetch(() => Promise.reject(new TypeError('bug'))),
      TypeError,
    );
  });
});
