import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { CALLERS, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { listOf, objectOf } from '../support/reported.ts';

const shared = shareAllUpstreams();

const SCHEMA = {
  type: 'object',
  properties: { at: { type: 'string' } },
  required: ['at'],
  additionalProperties: false,
};
/** One tool that must be called as its schema says, and one that may be called loosely. */
const TOOLS = {
  chat: [
    { type: 'function', function: { name: 'bound', parameters: SCHEMA, strict: true } },
    { type: 'function', function: { name: 'free', parameters: SCHEMA } },
  ],
  messages: [
    { name: 'bound', input_schema: SCHEMA, strict: true },
    { name: 'free', input_schema: SCHEMA },
  ],
};
const BETA = 'structured-outputs-2025-11-13';

function toolsIn(body: JsonObject, member: string): readonly JsonObject[] {
  return listOf(body[member]).map((tool) => objectOf(tool));
}

suite('a strict tool', () => {
  for (const caller of CALLERS) {
    const requested = { max_tokens: 100, messages: [{ role: 'user', content: 'Look.' }], tools: TOOLS[caller] };

    // @spec chat-26
    test(`is strict in the chat format: ${caller} caller`, async () => {
      const { ask } = shared();
      const { arrived } = await ask(caller, 'openai', requested);
      const functions = toolsIn(arrived.body as JsonObject, 'tools').map(
        (tool) => objectOf(tool['function'])['strict'],
      );
      assert.deepEqual(functions, [true, undefined]);
    });

    test(`is strict in the responses format, where others are marked as not strict: ${caller} caller`, async () => {
      const { ask } = shared();
      const { arrived } = await ask(caller, 'responses', requested);
      assert.deepEqual(
        toolsIn(arrived.body as JsonObject, 'tools').map((tool) => tool['strict']),
        [true, false],
      );
    });

    test(`makes Gemini validate all tools, and excludes an older one: ${caller} caller`, async () => {
      const { ask } = shared();
      const newer = await ask(caller, 'gemini', requested);
      assert.deepEqual(newer.arrived.body['toolConfig'], { functionCallingConfig: { mode: 'VALIDATED' } });
      const older = await ask(caller, 'gemini/gemini-2.0-flash', requested);
      assert.equal(older.arrived.body['toolConfig'], undefined);
      const place = caller === 'chat' ? 'tools[0].function' : 'tools[0]';
      assert.ok(older.warnings.includes(`field-dropped ${place}.strict`), older.warnings.join());
    });

    test(`is strict at Bedrock for models that support it: ${caller} caller`, async () => {
      const { ask } = shared();
      const strict = async (model: string): Promise<readonly unknown[]> => {
        const { arrived } = await ask(caller, model, requested);
        const { toolConfig } = arrived.body as JsonObject;
        return toolsIn(objectOf(toolConfig), 'tools').map((tool) => objectOf(tool['toolSpec'])['strict']);
      };
      assert.deepEqual(await strict('converse/us.anthropic.claude-sonnet-4-5-20250929-v1:0'), [true, undefined]);
      assert.deepEqual(await strict('converse/us.amazon.nova-2-lite-v1:0'), [undefined, undefined]);
    });

    test(`is strict at Cohere when all tools are, since one switch is for all: ${caller} caller`, async () => {
      const { ask } = shared();
      const all = await ask(caller, 'cohere', { ...requested, tools: TOOLS[caller].slice(0, 1) });
      assert.equal(all.arrived.body['strict_tools'], true);
      const some = await ask(caller, 'cohere', requested);
      assert.equal(some.arrived.body['strict_tools'], undefined);
      assert.ok(
        some.warnings.some((warning) => /^field-dropped tools\[0\].*strict$/.test(warning)),
        some.warnings.join(),
      );
    });
  }

  // @spec chat-26
  test('is strict at Anthropic for a chat caller with the beta, and otherwise loses it with a warning', async () => {
    const { ask } = shared();
    const requested = { max_tokens: 100, messages: [{ role: 'user', content: 'Look.' }], tools: TOOLS.chat };
    const without = await ask('chat', 'claude', requested);
    assert.deepEqual(
      toolsIn(without.arrived.body as JsonObject, 'tools').map((tool) => tool['strict']),
      [undefined, undefined],
    );
    assert.ok(without.warnings.includes('field-dropped tools[0].function.strict'), without.warnings.join());
    const { arrived } = await ask('chat', 'claude', requested, { 'x-anthropic-beta': BETA });
    assert.deepEqual(
      toolsIn(arrived.body as JsonObject, 'tools').map((tool) => tool['strict']),
      [true, undefined],
    );
    assert.ok(String(arrived.headers['anthropic-beta']).includes(BETA));
  });
});
