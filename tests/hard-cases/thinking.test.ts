import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CALLERS, ONE_OF_EACH, startAllUpstreams } from '../support/all-upstreams.ts';
import { speak } from '../support/speak.ts';

const CALL = { id: 'call_1', name: 'look', input: '{"at":"sky"}' };
const TOOLS = {
  chat: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
  messages: [{ name: 'look', input_schema: { type: 'object', properties: {} } }],
};
const ASKED = { max_tokens: 8_000, messages: [{ role: 'user', content: 'Look.' }] };

suite('thinking, then a call, then text', async () => {
  for (const name of ONE_OF_EACH)
    for (const caller of CALLERS)
      for (const stream of [false, true])
        test(`${name} to ${caller}, stream: ${stream}`, async (t) => {
          const { upstream, ask } = await startAllUpstreams(t);
          upstream.script = speak({ thought: 'I look.', text: 'Looking.', calls: [CALL] });
          const { told } = await ask(caller, name, { ...ASKED, stream, tools: TOOLS[caller] });
          assert.equal(told.text, 'Looking.');
          assert.equal(told.reasoning, 'I look.');
          assert.deepEqual(told.calls, [{ ...CALL, input: undefined, arguments: CALL.input }].map(({ input: _, ...one }) => one));
        });
});
