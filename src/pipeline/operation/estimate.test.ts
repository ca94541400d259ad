import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { EmbeddingsInput } from '../../canonical/media/embeddings-input.ts';
import type { EmbeddingsOperation, Operation } from '../../canonical/operation.ts';
import { estimateOperationUsage } from '../../canonical/operation-usage.ts';
import type { PriceTable } from '../../catalog/price.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';
import { modelOf, priced, routeOf } from '../../../tests/support/route-plan.ts';
import { ESTIMATE_MARGIN } from '../billing/cost-estimate.ts';
import { estimateOperation } from './estimate.ts';

function embeddings(...inputs: readonly EmbeddingsInput[]): EmbeddingsOperation {
  return {
    kind: 'embeddings',
    delivery: 'whole',
    inputs,
    encoding: 'float',
    directives: plainDirectives('a/b'),
    warnings: [],
  };
}

/** What is reserved, nano-USD. */
function reservedFor(request: Operation, price: PriceTable): number {
  const plan = routeOf([modelOf('a/b', priced('one', undefined, { price }))]);
  return estimateOperation({ id: 'gen-1', createdMs: 0, request }, ESTIMATE_MARGIN, plan, undefined).worst.ownNanoUsd;
}

const media = (kind: 'image' | 'audio', bytes: number): EmbeddingsInput => ({
  pieces: [
    { type: 'text', text: 'what is said here' },
    { type: 'media', media: kind, path: 'input[0]', url: `data:x/y;base64,${'A'.repeat((bytes * 4) / 3)}` },
  ],
});
/** A pico-USD for a token. */
const RATE = 1_000_000;

// @spec embeddings-9
suite('what is reserved for an operation', () => {
  test('has pictures and sounds in vectors at their own rates, with the margin of the texts', () => {
    const plain = { prompt: RATE, completion: 0 };
    const picture = embeddings(media('image', 3_000));
    const sound = embeddings(media('audio', 300_000));
    const extra = (request: EmbeddingsOperation, price: PriceTable): number =>
      reservedFor(request, price) - reservedFor(request, plain);
    // Of a picture 1,600 tokens are taken, and of a sound one for 500 bytes.
    assert.equal(extra(picture, { ...plain, imageToken: 3 * RATE }), Math.ceil(1_600 * ESTIMATE_MARGIN) * 2_000);
    const heard = estimateOperationUsage(sound).audioPromptTokens ?? 0;
    assert.ok(heard > 595 && heard < 605, String(heard));
    assert.equal(extra(sound, { ...plain, audio: 5 * RATE }), Math.ceil(heard * ESTIMATE_MARGIN) * 4_000);
    // What the provider does not count apart costs what texts do.
    assert.equal(extra(picture, { ...plain, imageToken: RATE / 2 }), 0);
  });

  test('has pictures in vectors that cost by the piece', () => {
    const plain = { prompt: RATE, completion: 0 };
    const two = embeddings(media('image', 300), media('image', 300));
    assert.equal(reservedFor(two, { ...plain, image: 7 * RATE }) - reservedFor(two, plain), 14_000);
  });
});
