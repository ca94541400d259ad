import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { estimateTokens } from '../../src/canonical/estimate-tokens.ts';
import type { Json } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';
import { chatAnswer, chatChunk, json, sse, startUpstream, stream, type Script } from '../support/upstream.ts';

const upstream = await startUpstream(json(500, {}));
const gateway = await startGateway({
  yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }]
`,
});
after(async () => {
  await gateway.close();
  await upstream.close();
});

const TEXTS = {
  English: 'The quick brown fox jumps over the lazy dog, and rests in the shade of a tree. '.repeat(4),
  Chinese: '今天天气很好,我们去公园散步吧。晚上一起吃饭。'.repeat(4),
  Russian: 'Быстрая лиса перепрыгивает через ленивую собаку и отдыхает в тени дерева. '.repeat(4),
};

const UNCOUNTED: Readonly<Record<string, Json | undefined>> = {
  'no usage': undefined,
  'a count of nothing': { prompt_tokens: 10, completion_tokens: 0 },
  'a count that is none': { prompt_tokens: 10, completion_tokens: 1e300 },
};

function answerWith(text: string, usage: Json | undefined, isStreamed: boolean): Script {
  if (!isStreamed) return json(200, chatAnswer(text, { usage }));
  const stated = [...text.matchAll(/[^]{1,7}/gu)].map(([content]) => chatChunk({ content }));
  const counted = usage === undefined ? [] : [{ ...chatChunk({}), choices: [], usage }];
  return stream(sse([chatChunk({ role: 'assistant' }), ...stated, chatChunk({}, 'stop'), ...counted, '[DONE]']));
}

suite('the charge of a response without usage', () => {
  for (const [language, text] of Object.entries(TEXTS))
    for (const [how, usage] of Object.entries(UNCOUNTED))
      test(`follows its text: ${language}, with ${how}: streamed or not, in both formats, marked as an estimate`, async () => {
        const tokens = estimateTokens(text);
        for (const path of ['/chat/completions', '/messages'])
          for (const isStreamed of [true, false]) {
            upstream.script = answerWith(text, usage, isStreamed);
            const messages = [{ role: 'user', content: 'hi' }];
            const answer = await gateway.post(path, {
              model: 'acme/one',
              max_tokens: 999,
              stream: isStreamed,
              messages,
            });
            await answer.text();
            const record = await gateway.app.generations.find(answer.headers.get('x-generation-id') ?? '');
            assert.deepEqual(
              [record?.tokensCompletion, record?.costNanoUsd, record?.usageSource],
              [tokens, tokens * 10_000, 'estimated'],
              `${path}, streamed: ${isStreamed}`,
            );
          }
      });

  // @spec money-23
  test('never exceeds the requested and reserved amount', async () => {
    upstream.script = answerWith(TEXTS.Russian, undefined, true);
    const messages = [{ role: 'user', content: 'hi' }];
    const answer = await gateway.post('/chat/completions', {
      model: 'acme/one',
      max_tokens: 20,
      stream: true,
      messages,
    });
    await answer.text();
    const record = await gateway.app.generations.find(answer.headers.get('x-generation-id') ?? '');
    assert.equal(record?.tokensCompletion, 20);
  });
});
