import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CALLERS, ONE_OF_EACH, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { emit, speak } from '../support/upstreams/speak.ts';

const shared = shareAllUpstreams();

/** Nothing of it survives a parser that knows doubles only. */
const INPUT = '{"id":12345678901234567890,"big":9007199254740993,"x":1.0,"tiny":1e-400,"text":"7.0"}';

/** A conversation in which the model called with this input, as its caller sends it again. */
const HISTORY = {
  chat: `{"messages":[{"role":"user","content":"Look."},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":${JSON.stringify(INPUT)}}}]},{"role":"tool","tool_call_id":"call_1","content":"seen"}]`,
  messages: `{"max_tokens":100,"messages":[{"role":"user","content":"Look."},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"look","input":${INPUT}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"seen"}]}]`,
};
const TOOLS = {
  chat: ',"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{"id":{"type":"integer"}}}}}]',
  messages: ',"tools":[{"name":"look","input_schema":{"type":"object","properties":{"id":{"type":"integer"}}}}]',
};

suite('the numbers in the input of a call', () => {
  for (const name of ONE_OF_EACH)
    for (const caller of CALLERS) {
      for (const stream of [false, true])
        // @spec translate-6
        test(`come from ${name} digit by digit: ${caller} caller, stream: ${stream}`, async () => {
          const { upstream, ask } = shared();
          upstream.script = speak({ parts: [{ type: 'call', id: 'call_1', name: 'look', input: INPUT }] });
          const requested = `{"max_tokens":100,"stream":${stream},"messages":[{"role":"user","content":"Look."}]${TOOLS[caller]}}`;
          const { reported } = await ask(caller, name, requested);
          assert.deepEqual(reported.calls, [{ id: 'call_1', name: 'look', arguments: INPUT }]);
        });

      // @spec translate-6
      test(`go back to ${name} digit by digit: ${caller} caller`, async () => {
        const { upstream, ask } = shared();
        upstream.script = emit('Done.');
        const { arrived } = await ask(caller, name, `${HISTORY[caller]}${TOOLS[caller]}}`);
        const written = arrived.text.includes(INPUT) || arrived.text.includes(JSON.stringify(INPUT));
        assert.ok(written, arrived.text);
      });
    }
});
