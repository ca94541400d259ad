import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import { toContinuationRequest } from './request-continuation.ts';

function requestOf(turns: readonly Turn[], maxTokens?: number): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'stream',
    turns,
    tools: [],
    settings: maxTokens === undefined ? {} : { maxTokens },
    directives: {
      models: [],
      provider: {
        allowFallbacks: true,
        requireParameters: false,
        dataCollection: 'allow',
        zdr: false,
        enforceDistillableText: false,
      },
      plugins: [],
      echoUpstreamBody: false,
      serviceMetadata: false,
      betas: [],
    },
    warnings: [],
  };
}

const question: Turn = { role: 'user', blocks: [{ type: 'text', text: 'Why?' }] };

test('sends the response so far as the last turn, without the white space at its end', () => {
  const originalRequest = toContinuationRequest(requestOf([question]), 'Because of \n');
  assert.deepEqual(originalRequest.turns.slice(1), [
    { role: 'assistant', blocks: [{ type: 'text', text: 'Because of' }], plain: true },
  ]);
});

test('continues a response that the caller began itself in the same turn, behind its last text', () => {
  const begun = (...blocks: Turn['blocks']): Turn => ({ role: 'assistant', blocks });
  const image = { type: 'media', media: 'image', source: { type: 'url', url: 'https://example.com/a.png' } } as const;
  assert.deepEqual(
    toContinuationRequest(requestOf([question, begun({ type: 'text', text: 'It is ' })]), 'grey').turns,
    [question, begun({ type: 'text', text: 'It is grey' })],
  );
  assert.deepEqual(toContinuationRequest(requestOf([begun(image)]), 'grey').turns, [
    begun(image, { type: 'text', text: 'grey' }),
  ]);
});

test('counts the delivered part against the length of the response, and always leaves one token', () => {
  assert.equal(toContinuationRequest(requestOf([question], 100), 'x'.repeat(40)).settings.maxTokens, 90);
  assert.equal(toContinuationRequest(requestOf([question], 5), 'x'.repeat(40)).settings.maxTokens, 1);
  assert.equal('maxTokens' in toContinuationRequest(requestOf([question]), 'x').settings, false);
});
