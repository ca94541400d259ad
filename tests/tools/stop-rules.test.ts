import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ask, startToolTurns, testTool, type Asking, type Model, type ToolTurns } from '../support/tool-turns.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/chat', stream: true };
const MESSAGES: Asking = { format: 'messages', model: 'acme/messages', stream: false };
const FILES = [{ type: 'service:files' }];

/** Calls as long as it may, then answers. */
const callsOn: Model = ({ body }) => {
  const choice = body['tool_choice'] as string | { readonly type: string } | undefined;
  const mayCall = choice !== 'none' && (typeof choice !== 'object' || choice.type !== 'none');
  return mayCall && Array.isArray(body['tools']) ? { calls: [{ name: 'service_files' }] } : { text: 'Done.' };
};

async function start(
  t: Parameters<typeof startToolTurns>[0],
  model: Model = callsOn,
): Promise<ToolTurns & { ran: () => number }> {
  let ran = 0;
  const files = testTool('files', () => Promise.resolve({ result: { run: ++ran } }));
  return { ...(await startToolTurns(t, model, { serverTools: [files] })), ran: () => ran };
}

// @spec tool-15, tool-16, tool-17
suite('the end of the loop, with one turn without calls', () => {
  const cases: readonly (readonly [string, object, { readonly runs: number; readonly turns: number }])[] = [
    ['after as many calls as max_tool_calls', { max_tool_calls: 2 }, { runs: 2, turns: 3 }],
    [
      'after the call that step_count_is names',
      { stop_server_tools_when: [{ type: 'step_count_is', step_count: 3 }] },
      { runs: 3, turns: 4 },
    ],
    [
      'after a call of the tool that has_tool_call names',
      { stop_server_tools_when: [{ type: 'has_tool_call', tool_name: 'service:files' }] },
      { runs: 1, turns: 2 },
    ],
    [
      'also where has_tool_call names the function',
      { stop_server_tools_when: [{ type: 'has_tool_call', tool_name: 'service_files' }] },
      { runs: 1, turns: 2 },
    ],
    // Each turn has 15 tokens.
    [
      'after more than max_tokens_used',
      { stop_server_tools_when: [{ type: 'max_tokens_used', max_tokens: 30 }] },
      { runs: 3, turns: 4 },
    ],
    // Each turn costs 0.00002 USD.
    [
      'after more than max_cost',
      { stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: 0.00002 }] },
      { runs: 2, turns: 3 },
    ],
    [
      'after a turn that ended as finish_reason_is says',
      { stop_server_tools_when: [{ type: 'finish_reason_is', reason: 'tool_calls' }] },
      { runs: 1, turns: 2 },
    ],
    [
      'as soon as any one of several conditions is met',
      {
        stop_server_tools_when: [
          { type: 'step_count_is', step_count: 9 },
          { type: 'step_count_is', step_count: 2 },
        ],
      },
      { runs: 2, turns: 3 },
    ],
    [
      'by a condition that stands alone',
      { stop_server_tools_when: { type: 'step_count_is', step_count: 1 } },
      { runs: 1, turns: 2 },
    ],
    [
      'by conditions in place of max_tool_calls',
      { max_tool_calls: 1, stop_server_tools_when: [{ type: 'step_count_is', step_count: 4 }] },
      { runs: 4, turns: 5 },
    ],
    ['after 30 calls where nothing else is said', {}, { runs: 30, turns: 31 }],
    ['after 30 calls when the request allows more', { max_tool_calls: 500 }, { runs: 30, turns: 31 }],
    [
      'after 100 calls where the conditions are never met',
      { stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: 900 }] },
      { runs: 100, turns: 101 },
    ],
  ];
  for (const [name, directives, expected] of cases) {
    test(name, async (t) => {
      const turns = await start(t);
      const reported = await ask(turns, CHAT, { tools: FILES, ...directives });
      const { arrived } = turns.chat;
      assert.deepEqual({ runs: turns.ran(), turns: arrived.length }, expected);
      assert.equal(reported.text, 'Done.');
      assert.equal(reported.finish, 'stop');
      assert.equal(arrived.at(-1)?.body['tool_choice'], 'none');
      assert.ok(
        Array.isArray(arrived.at(-1)?.body['tools']),
        'the tools stay visible: the conversation holds calls of them',
      );
    });
  }

  test("uses the messages format's own reason", async (t) => {
    const turns = await start(t);
    const stop = [{ type: 'finish_reason_is', reason: 'tool_use' }];
    const reported = await ask(turns, MESSAGES, { tools: FILES, stop_server_tools_when: stop });
    assert.equal(turns.ran(), 1);
    assert.equal(reported.text, 'Done.');
    assert.deepEqual(turns.messages.arrived.at(-1)?.body['tool_choice'], { type: 'none' });
  });
});

// @spec tool-18
test('runs calls that are pending when a condition applies', async (t) => {
  const calls = [{ name: 'service_files' }, { name: 'service_files' }, { name: 'service_files' }];
  const turns = await start(t, (_arrived, at) => (at === 0 ? { calls } : { text: 'Done.' }));
  await ask(turns, CHAT, { tools: FILES, stop_server_tools_when: [{ type: 'step_count_is', step_count: 1 }] });
  assert.equal(turns.ran(), 3);
});

// @spec tool-14
test('runs no calls beyond max_tool_calls, and the model reads that', async (t) => {
  const calls = [{ name: 'service_files' }, { name: 'service_files' }, { name: 'service_files' }];
  const turns = await start(t, (_arrived, at) => (at === 0 ? { calls } : { text: 'Done.' }));
  const reported = await ask(turns, CHAT, { tools: FILES, max_tool_calls: 2 });
  assert.equal(turns.ran(), 2);
  assert.match(JSON.stringify(turns.chat.arrived[1]?.body['messages']), /limit of tool calls/);
  assert.deepEqual(reported.usage['server_tool_use_details'], {
    tool_calls_requested: 3,
    tool_calls_executed: 2,
    web_search_requests: 0,
  });
});

// @spec tool-14
test('offers the model no server tool with max_tool_calls 0', async (t) => {
  const turns = await start(t, () => ({ text: 'Done.' }));
  const mine = { type: 'function', function: { name: 'mine' } };
  await ask(turns, CHAT, { tools: [...FILES, mine], max_tool_calls: 0, tool_choice: { type: 'service:files' } });
  const [arrived] = turns.chat.arrived;
  assert.deepEqual(arrived?.body['tools'], [mine]);
  assert.equal(arrived?.body['tool_choice'], undefined);
  await ask(turns, CHAT, { tools: FILES, max_tool_calls: 0 });
  assert.equal(turns.chat.arrived[1]?.body['tools'], undefined);
});

test('ends with a model that calls although it must not', async (t) => {
  const turns = await start(t, () => ({ text: 'More?', calls: [{ name: 'service_files' }] }));
  const reported = await ask(turns, CHAT, { tools: FILES, max_tool_calls: 1 });
  assert.equal(turns.ran(), 1);
  assert.equal(reported.text, 'More?\n\nMore?');
  assert.deepEqual(reported.calls, []);
  assert.equal(reported.finish, 'stop');
});
