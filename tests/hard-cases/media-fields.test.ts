import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { PATHS, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { emit } from '../support/upstreams/speak.ts';

const shared = shareAllUpstreams();
const ADDRESSES = ['http://127.0.0.1:9/x', 'file:///etc/passwd', 'FILE:/etc/passwd', ' file:///x'];

const audio = (data: string, format = 'wav'): JsonObject => ({ type: 'input_audio', input_audio: { data, format } });
const image = (source: JsonObject): JsonObject => ({ type: 'image', source });
const base64 = (data: string): JsonObject => ({ type: 'base64', media_type: 'image/png', data });
const pdf = (data: string): JsonObject => ({
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data },
});

/** What the user says, or what a tool has found. */
const places = {
  chat: {
    user: (part: JsonObject) => [{ role: 'user', content: [part] }],
    tool: (part: JsonObject) => [
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: [part] },
    ],
  },
  messages: {
    user: (part: JsonObject) => [{ role: 'user', content: [part] }],
    tool: (part: JsonObject) => [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [part] }] },
    ],
  },
} as const;

const LOCAL = ADDRESSES.slice(1);
const CASES: readonly (readonly ['chat' | 'messages', string, (address: string) => JsonObject, readonly string[]])[] = [
  ['chat', 'input_audio.data', (address) => audio(address), ADDRESSES],
  ['chat', 'image_url.url', (url) => ({ type: 'image_url', image_url: { url } }), LOCAL],
  ['chat', 'video_url.url', (url) => ({ type: 'video_url', video_url: { url } }), LOCAL],
  ['chat', 'file.file_data', (url) => ({ type: 'file', file: { filename: 'a.pdf', file_data: url } }), LOCAL],
  ['messages', 'source.data', (address) => image(base64(address)), ADDRESSES],
  ['messages', 'source.data', (address) => pdf(address), ADDRESSES],
  ['messages', 'source.url', (url) => image({ type: 'url', url }), LOCAL],
  ['messages', 'source.url', (url) => ({ type: 'document', source: { type: 'url', url } }), LOCAL],
];

suite('media fields', () => {
  for (const [format, member, part, addresses] of CASES)
    for (const place of ['user', 'tool'] as const)
      test(`reject addresses on the machine of the reader, ${member} of ${format}: ${place}, ${part('x')['type'] as string}`, async () => {
        const { gateway, upstream } = shared();
        upstream.arrived.length = 0;
        for (const address of addresses)
          for (const name of ['chat', 'claude', 'gemini']) {
            const body = { model: `acme/${name}`, max_tokens: 100, messages: places[format][place](part(address)) };
            const response = await gateway.post(PATHS[format], body);
            const text = await response.text();
            assert.equal(response.status, 400, `${address}: ${text}`);
            assert.match(text, new RegExp(member.replace('.', '\\.')));
          }
        assert.equal(upstream.arrived.length, 0);
      });

  // @spec chat-12
  test('accept base64 in lines, and a data: URL, which is sent as base64, in input_audio.data', async () => {
    const { upstream, ask } = shared();
    upstream.script = emit('Heard.');
    for (const data of ['UklGRg==', 'UklG\nRg==', 'data:audio/wav;base64,UklGRg==']) {
      const { arrived } = await ask('chat', 'chat', { messages: places.chat.user(audio(data)) });
      const sent = JSON.stringify(arrived.body['messages']);
      assert.ok(sent.includes(JSON.stringify(data.replace('data:audio/wav;base64,', ''))), sent);
      assert.ok(!sent.includes('data:'), sent);
    }
  });

  // @spec chat-12
  test('reject an audio format that is more than a word with 400', async () => {
    const { gateway } = shared();
    const body = { model: 'acme/chat', messages: places.chat.user(audio('UklGRg==', 'wav;base64,x')) };
    assert.equal((await gateway.post('/chat/completions', body)).status, 400);
  });
});
