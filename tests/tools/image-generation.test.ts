import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { messageOf } from '../support/next-turn.ts';
import { textAt } from '../support/byok.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { ask, startToolTurns, type Asking, type Model, type ToolTurns } from '../support/tool-turns.ts';
import { json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/chat', stream: true };
const BYTES = Buffer.from('a picture').toString('base64');
const URL = `data:image/png;base64,${BYTES}`;
const TOOLS = [{ type: 'service:image_generation', parameters: { model: 'acme/painter', aspect_ratio: '16:9' } }];

const draws: Model = (_arrived, at) =>
  at === 0 ? { calls: [{ name: 'service_image_generation', input: '{"prompt":"A cat."}' }] } : { text: 'Look.' };

/** A gateway with one more model, which answers so. */
async function startPainting(
  t: Parameters<typeof startToolTurns>[0],
  answer: object,
  adapter: 'openai-compatible' | 'google' = 'openai-compatible',
): Promise<{ readonly turns: ToolTurns; readonly painter: ScriptedUpstream }> {
  const painter = await startUpstream(json(200, answer));
  t.after(() => painter.close());
  const turns = await startToolTurns(t, draws, {
    providers: `painting: { adapter: ${adapter}, name: Painting, base_url: "${painter.baseUrl}", api_key: upstream-secret-3 }`,
    yaml: `
  acme/painter:
    output_modalities: [image, text]
    endpoints: [{ provider: painting, model: painter, price: { prompt: 1, completion: 30 } }]
`,
  });
  return { turns, painter };
}

/** An answer in the chat format. */
function chatAnswer(message: object): object {
  return {
    id: 'img-1',
    object: 'chat.completion',
    created: 1,
    model: 'painter',
    choices: [{ index: 0, message: { role: 'assistant', content: '', ...message }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 4, completion_tokens: 1_000, total_tokens: 1_004 },
  };
}

const IMAGES = [{ type: 'image_url', image_url: { url: URL } }];
const PICTURE = chatAnswer({ images: IMAGES });

suite('a generated image', () => {
  for (const stream of [true, false])
    // @spec tool-31
    test(`is in the response and in the result, and no model reads its bytes: ${stream ? 'stream' : 'not streamed'}`, async (t) => {
      const { turns, painter } = await startPainting(t, chatAnswer({ images: IMAGES, content: 'A cat on a mat.' }));
      const reported = await ask(turns, { ...CHAT, stream }, { tools: TOOLS });
      assert.equal(reported.text, 'Look.');
      const [image] = listOf(reported.message['images']).map((one) => objectOf(one));
      assert.deepEqual(image?.['image_url'], { url: URL });
      const [detail] = listOf(reported.message['reasoning_details']).map((one) => objectOf(one));
      assert.deepEqual(JSON.parse(textAt(detail ?? {}, 'result')), {
        status: 'ok',
        imageUrl: URL,
        revisedPrompt: 'A cat on a mat.',
      });
      const [requested] = painter.arrived;
      assert.deepEqual(requested?.body['modalities'], ['image', 'text']);
      assert.deepEqual(requested.body['image_config'], { aspect_ratio: '16:9' });
      assert.deepEqual(requested.body['messages'], [{ role: 'user', content: 'A cat.' }]);
      const read = turns.chat.arrived[1]?.text ?? '';
      assert.ok(read.includes('A cat on a mat.') && !read.includes(BYTES), read);
      // The picture is billed as the model that drew it: 4 and 1000 tokens, beside two turns of 10 and 5.
      assert.equal(reported.usage['cost'], (4 * 1 + 1_000 * 30 + 2 * (10 * 1 + 5 * 2)) / 1e6);
    });

  test('may come from an upstream of the gemini format', async (t) => {
    const parts = [{ text: 'A cat on a mat.' }, { inlineData: { mimeType: 'image/png', data: BYTES } }];
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 1_000, totalTokenCount: 1_004 },
    };
    const { turns, painter } = await startPainting(t, answer, 'google');
    const reported = await ask(turns, CHAT, { tools: TOOLS });
    const [image] = listOf(reported.message['images']).map((one) => objectOf(one));
    assert.deepEqual(image?.['image_url'], { url: URL });
    const config = objectOf(painter.arrived[0]?.body['generationConfig'] as JsonObject);
    assert.deepEqual(config['responseModalities'], ['IMAGE', 'TEXT']);
    assert.deepEqual(config['imageConfig'], { aspectRatio: '16:9' });
  });

  test('is the content of its result in the messages format, which has no images', async (t) => {
    const { turns } = await startPainting(t, PICTURE);
    const reported = await ask(turns, { ...CHAT, format: 'messages' }, { tools: TOOLS });
    const blocks = listOf(reported.message['content']).map((block) => objectOf(block));
    assert.equal(blocks[1]?.['type'], 'service_image_generation_tool_result');
    assert.deepEqual(blocks[1]['content'], { status: 'ok', imageUrl: URL });
  });

  for (const format of ['chat', 'messages'] as const)
    test(`is not read by the model of the next request either: ${format}`, async (t) => {
      const { turns } = await startPainting(t, PICTURE);
      const user = { role: 'user', content: 'Go.' };
      const reported = await ask(turns, { ...CHAT, format }, { messages: [user], tools: TOOLS });
      const messages = [user, messageOf(format, reported), { role: 'user', content: 'Thanks.' }];
      await ask(turns, { ...CHAT, format }, { messages, tools: TOOLS });
      const last = turns.chat.arrived.at(-1);
      const results = listOf(last?.body['messages'] as JsonObject[]).filter((one) => objectOf(one)['role'] === 'tool');
      assert.equal(results.length, 1);
      assert.match(JSON.stringify(results), /shown to the user/);
      assert.doesNotMatch(JSON.stringify(results), new RegExp(BYTES));
    });
});

test("is missing: the error contains the model's words", async (t) => {
  const { turns } = await startPainting(t, chatAnswer({ content: 'I cannot draw.' }));
  const reported = await ask(turns, CHAT, { tools: TOOLS });
  const [detail] = listOf(reported.message['reasoning_details']).map((one) => objectOf(one));
  const result = JSON.parse(textAt(detail ?? {}, 'result')) as JsonObject;
  assert.equal(result['status'], 'error');
  assert.match(textAt(result, 'error'), /I cannot draw/);
});

// @spec tool-31
test('is an error without the default model, and the request continues', async (t) => {
  const turns = await startToolTurns(t, draws);
  const reported = await ask(turns, CHAT, { tools: [{ type: 'service:image_generation' }] });
  assert.equal(reported.text, 'Look.');
  const [detail] = listOf(reported.message['reasoning_details']).map((one) => objectOf(one));
  assert.match(textAt(detail ?? {}, 'result'), /openai\/gpt-5-image/);
});

suite('invalid parameters', () => {
  for (const [name, parameters] of [
    ['output_compression', { output_compression: 101 }],
    ['quality', { quality: { level: 1 } }],
    ['model', { model: 7 }],
  ] as const)
    test(name, async (t) => {
      const turns = await startToolTurns(t, draws);
      const answer = await turns.gateway.post('/chat/completions', {
        model: 'acme/chat',
        messages: [{ role: 'user', content: 'Go.' }],
        tools: [{ type: 'service:image_generation', parameters }],
      });
      const text = await answer.text();
      assert.equal(answer.status, 400, text);
      assert.ok(text.includes(`tools[0].parameters.${name}`), text);
    });
});
