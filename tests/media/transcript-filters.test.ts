import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { textIn } from '../support/upstreams/json-upstream.ts';
import { RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

const SOUND = Buffer.concat([wavHead({ sampleRate: 24_000 }, 48_000), Buffer.alloc(48_000)]);
const fake = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await fake.start();
  gateway = await startGateway({
    yaml: `
providers:
  one: { adapter: openai-compatible, base_url: "${fake.url}/v1", api_key: k1 }
models:
  a/hears:
    output_modalities: [transcription]
    endpoints: [{ provider: one, model: m, price: { prompt: 0, completion: 0, second: 0.0001 } }]
`,
  });
});
after(async () => {
  await gateway.close();
  fake.close();
});

async function manage(path: string, body: JsonObject): Promise<JsonObject> {
  const response = await gateway.post(path, body, { authorization: `Bearer ${MANAGEMENT_KEY}` });
  assert.ok(response.ok, await response.clone().text());
  return (await response.json()) as JsonObject;
}

/** A key whose responses are looked through. */
async function keyWith(action: 'redact' | 'block'): Promise<string> {
  const { key, data } = await manage('/keys', { name: action });
  const made = await manage('/guardrails', {
    name: action,
    content_filters: [{ pattern: 'red fox', action, label: '[S]', scan_output: true }],
  });
  await manage(`/guardrails/${textIn((made['data'] as JsonObject)['id'])}/assignments/keys`, {
    key_hashes: [textIn((data as JsonObject)['hash'])],
  });
  return textIn(key);
}

function transcribe(key: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  const form = new FormData();
  form.append('file', new Blob([SOUND]), 'a.wav');
  for (const [name, value] of Object.entries({ ...fields, model: 'a/hears' })) form.append(name, value);
  const headers = { authorization: `Bearer ${key}` };
  return fetch(`${gateway.baseUrl}/audio/transcriptions`, { method: 'POST', headers, body: form });
}

const HEARD = {
  text: 'the red fox sleeps on red',
  language: 'english',
  duration: 2,
  segments: [
    { id: 0, start: 0, end: 1, text: 'the red', tokens: [1, 2] },
    { id: 1, start: 1, end: 2, text: ' fox sleeps', tokens: [3, 4] },
    { id: 2, start: 2, end: 3, text: ' on red', tokens: [5] },
  ],
  words: ['the', 'red', 'fox', 'sleeps', 'on', 'red'].map((word, at) => ({ word, start: at / 2, end: (at + 1) / 2 })),
};

// @spec stt-15
suite('transcripts of keys whose filters look through responses', () => {
  test('are redacted in the text, in segments and in words, also where the match lies across them', async () => {
    fake.answer = (_call, response) => sendJson(response, HEARD);
    const key = await keyWith('redact');
    const response = await transcribe(key, { response_format: 'verbose_json', 'timestamp_granularities[]': 'word' });
    const words = (await response.json()) as JsonObject;
    assert.equal(words['text'], 'the [S] sleeps on red');
    assert.deepEqual(
      (words['words'] as { word: string }[]).map(({ word }) => word),
      ['the', '[S]', '[S]', 'sleeps', 'on', 'red'],
    );
    const subtitles = await (await transcribe(key, { response_format: 'verbose_json' })).json();
    const { segments } = subtitles as { segments: { text: string; tokens: number[] }[] };
    assert.deepEqual(
      segments.map(({ text, tokens }) => [text, tokens]),
      [
        ['the [S]', []],
        [' [S] sleeps', []],
        [' on red', [5]],
      ],
    );
  });

  test('come as one event where they would have come in many, so that nothing slips through between', async () => {
    fake.answer = (_call, response) => {
      const deltas = ['the re', 'd fo', 'x sleeps on red'].map((delta) => ({ type: 'transcript.text.delta', delta }));
      const events = [...deltas, { type: 'transcript.text.done', text: HEARD.text }];
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    };
    const text = await (await transcribe(await keyWith('redact'), { stream: 'true' })).text();
    assert.match(text, /"delta":"the \[S\] sleeps on red"/);
    assert.doesNotMatch(text, /fo|d fox/);
    const unfiltered = await (await transcribe(API_KEY, { stream: 'true' })).text();
    assert.equal(unfiltered.match(/transcript\.text\.delta/g)?.length, 3);
  });

  test('are refused where a filter blocks them, and charged', async () => {
    fake.answer = (_call, response) => sendJson(response, HEARD);
    const key = await keyWith('block');
    const response = await transcribe(key, {});
    assert.equal(response.status, 403);
    assert.doesNotMatch(await response.text(), /sleeps/);
    const found = await fetch(`${gateway.baseUrl}/generation?id=${response.headers.get('x-generation-id') ?? ''}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { data } = (await found.json()) as { data: JsonObject };
    // Two seconds, as the provider counted.
    assert.equal(data['total_cost'], 0.0002);
  });

  test('are free where the provider breaks them off before the filters have seen them', async () => {
    const key = await keyWith('redact');
    const said = `data: ${JSON.stringify({ type: 'transcript.text.delta', delta: 'the red' })}\n\n`;
    const refused = `data: ${JSON.stringify({ error: { message: 'no', type: 'permission_error', code: 403 } })}\n\n`;
    for (const text of [said, said + refused]) {
      fake.answer = (_call, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
      const response = await transcribe(key, { stream: 'true' });
      const answered = await response.text();
      assert.doesNotMatch(answered, /the red/);
      assert.match(answered, /"code":502/);
      const found = await fetch(`${gateway.baseUrl}/generation?id=${response.headers.get('x-generation-id') ?? ''}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const { data } = (await found.json()) as { data: JsonObject };
      assert.equal(data['total_cost'], 0, answered);
    }
  });
});
