import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INTERNS_ON, settingOf } from './support.ts';
import { MANAGEMENT_KEY } from '../../support/gateway.ts';
import { startToolTurns } from '../../support/tool-turns.ts';

const MANAGER = { authorization: `Bearer ${MANAGEMENT_KEY}` };
const PRESET = {
  system: 'You keep the notes of the preset.',
  temperature: 0.25,
  tools: [
    { type: 'service:datetime' },
    { type: 'function', function: { name: 'mine', description: 'x', parameters: { type: 'object' } } },
  ],
};

// @spec intern-28
test('takes what it leaves open from its preset, and wins over it', async (t) => {
  const turns = await startToolTurns(t, () => ({ text: 'Done.' }), { yaml: INTERNS_ON });
  const { call, intern, chat } = settingOf(turns.gateway);
  const { status, text } = await call('POST', '/presets/notes/chat/completions', {
    model: 'acme/chat',
    messages: [{ role: 'system', content: PRESET.system }],
    temperature: PRESET.temperature,
    tools: PRESET.tools,
  });
  assert.ok(status < 300, text);
  const plain = await intern({ model: null, preset: 'notes' });
  await chat(plain, 'hi');
  const own = await intern({
    preset: 'notes',
    model: 'acme/chat',
    instructions: 'My own.',
    tools: [{ type: 'service:files' }],
  });
  await chat(own, 'hi');
  const [first, second] = turns.chat.arrived.map(({ body }) => JSON.stringify(body));
  assert.match(first ?? '', /You keep the notes of the preset\./);
  assert.match(first ?? '', /"temperature":0\.25/);
  assert.match(first ?? '', /service_datetime/);
  assert.doesNotMatch(first ?? '', /"mine"/, 'an agent has no functions of a caller');
  assert.match(second ?? '', /My own\./);
  assert.doesNotMatch(second ?? '', /notes of the preset/);
  assert.match(second ?? '', /service_files/);
  assert.match((await call('GET', `/interns/${own}`)).text, /"preset":"notes"/);
  const unknown = await call('POST', '/interns', { name: 'lost', preset: 'none' });
  assert.equal(unknown.status, 404, unknown.text);
  const disabled = await call('PATCH', '/presets/notes', { status: 'disabled' }, MANAGER);
  assert.equal(disabled.status, 200, disabled.text);
  assert.match((await call('POST', `/interns/${own}/provision`)).text, /"status":"failed".*no active preset/);
});
