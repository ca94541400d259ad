import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startScriptedFormats } from '../support/upstreams/scripted-formats.ts';

const SCHEMA =
  '{"type":"object","properties":{"id":{"type":"integer","minimum":12345678901234567890,"enum":[9007199254740993,1],"default":0.1234567890123456789}}}';
const NUMBERS = ['12345678901234567890', '9007199254740993', '0.1234567890123456789'];

const chatBody = (model: string, more = ''): string =>
  `{"model":"${model}","messages":[{"role":"user","content":"hi"}],"temperature":0.7,` +
  `"tools":[{"type":"function","function":{"name":"look_up","parameters":${SCHEMA}}}],` +
  `"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":${SCHEMA}}}${more}}`;

const messagesBody = (model: string, more = ''): string =>
  `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"temperature":0.7,` +
  `"tools":[{"name":"look_up","input_schema":${SCHEMA}}],` +
  `"output_config":{"format":{"type":"json_schema","schema":${SCHEMA}}}${more}}`;

const members = (text: string): string => text.replaceAll(/"(?:description|messages|system)":"[^"]*"/g, '');

for (const [path, body] of [
  ['/chat/completions', chatBody],
  ['/messages', messagesBody],
] as const) {
  for (const model of ['acme/chat', 'acme/messages', 'acme/anthropic'])
    // @spec request-9
    test(`reach ${model} digit by digit in schemas: ${path}`, async (t) => {
      const { gateway, chat, messages } = await startScriptedFormats(t);
      const response = await gateway.post(path, body(model));
      assert.equal(response.status, 200, await response.text());
      const arrived = model === 'acme/chat' ? chat.arrived[0] : messages.arrived[0];
      for (const number of NUMBERS)
        assert.ok(members(arrived?.text ?? '').includes(number), `${number} in ${arrived?.text}`);
      assert.equal(arrived?.body['temperature'], 0.7);
    });
}

// @spec request-9
test('keep a seed of 64 bits, and long numbers in unknown fields, unchanged within a format', async (t) => {
  const { gateway, chat, messages } = await startScriptedFormats(t);
  const strange = ',"future":{"deep":[18446744073709551615]},"seed":18446744073709551615';
  assert.equal((await gateway.post('/chat/completions', chatBody('acme/chat', strange))).status, 200);
  assert.match(chat.arrived[0]?.text ?? '', /"seed":18446744073709551615/);
  assert.match(chat.arrived[0]?.text ?? '', /"future":\{"deep":\[18446744073709551615\]\}/);
  const future = ',"future":{"deep":[18446744073709551615]}';
  assert.equal((await gateway.post('/messages', messagesBody('acme/messages', future))).status, 200);
  assert.match(messages.arrived[0]?.text ?? '', /"future":\{"deep":\[18446744073709551615\]\}/);
});

test('validates a number that the gateway reads, whatever its number of digits', async (t) => {
  const { gateway, chat } = await startScriptedFormats(t);
  const refused = await gateway.post('/chat/completions', chatBody('acme/chat', ',"top_p":1.00000000000000001e1'));
  assert.equal(refused.status, 400);
  const { error } = (await refused.json()) as { error: { metadata: { issues: { path: string }[] } } };
  assert.equal(error.metadata.issues[0]?.path, 'top_p');
  const seed = await gateway.post('/chat/completions', chatBody('acme/chat', ',"seed":12345678901234567.5'));
  assert.equal(seed.status, 200, 'no double of that size has a fraction');
  assert.equal((await gateway.post('/chat/completions', chatBody('acme/chat', ',"seed":1.5'))).status, 400);
  const taken = await gateway.post('/chat/completions', chatBody('acme/chat', ',"top_p":0.90000000000000000001'));
  assert.equal(taken.status, 200);
  assert.equal(chat.arrived.at(-1)?.body['top_p'], 0.9);
});

// @spec request-8
test('rejects a number beyond a double with 400 at its place, also in fields that are passed on', async (t) => {
  const { gateway, chat } = await startScriptedFormats(t);
  for (const [more, place] of [
    [',"temperature":1e400', 'temperature'],
    [',"future":{"deep":[1,-1e999]}', 'future.deep[1]'],
    [`,"seed":${'9'.repeat(400)}`, 'seed'],
  ] as const) {
    const response = await gateway.post(
      '/chat/completions',
      `{"model":"acme/chat","messages":[{"role":"user","content":"hi"}]${more}}`,
    );
    assert.equal(response.status, 400);
    const { error } = (await response.json()) as { error: { metadata: { issues: { path: string }[] } } };
    assert.equal(error.metadata.issues[0]?.path, place);
  }
  assert.equal(chat.arrived.length, 0);
});

test('shows numbers in the debug chunk as they were sent', async (t) => {
  const { gateway } = await startScriptedFormats(t);
  const response = await gateway.post(
    '/chat/completions',
    chatBody('acme/chat', ',"stream":true,"seed":18446744073709551615,"debug":{"echo_upstream_body":true}'),
  );
  const [first = ''] = (await response.text()).split('\n\n');
  assert.match(first, /"echo_upstream_body":\{.*"seed":18446744073709551615/);
});
