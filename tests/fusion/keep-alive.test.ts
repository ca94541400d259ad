import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fusionTool, states, startPanel } from '../support/panel.ts';
import { emit } from '../support/tool-turns.ts';

/** After the first keep-alive, before the second. @spec stream-4 */
const LATE_MS = 11_500;

// All of them wait, so they wait together.
suite('a stream whose panel is slow', { concurrency: true }, () => {
  // A message begins with a ping anyway: the one that is meant comes behind the call.
  for (const [path, call, frame, result] of [
    ['/chat/completions', '', ': SERVICE PROCESSING\n\n', 'reasoning.server_tool_call'],
    ['/messages', 'server_tool_use', 'event: ping\ndata: {"type":"ping"}\n\n', 'service_fusion_tool_result'],
  ] as const) {
    // @spec tool-22
    test(`carries keep-alives and then the response: ${path}`, async (t) => {
      const { gateway } = await startPanel(t, (who, arrived) => {
        const stated = states(who, arrived);
        if (who !== 'one' && who !== 'two') return stated;
        const format = who === 'one' ? 'chat' : 'messages';
        return (...exchange) =>
          void setTimeout(() => void emit(format, stated, arrived.body['stream'] === true)(...exchange), LATE_MS);
      });
      const response = await gateway.post(path, {
        model: 'acme/outer',
        max_tokens: 99,
        stream: true,
        messages: [{ role: 'user', content: 'Tea?' }],
        tools: [fusionTool()],
      });
      const text = await response.text();
      assert.equal(response.status, 200);
      const alive = text.indexOf(frame, text.indexOf(call));
      const reported = text.indexOf(result);
      assert.ok(alive >= 0 && reported > alive, text.slice(0, 2_000));
      assert.match(text.slice(reported), /"In /);
    });
  }
});
