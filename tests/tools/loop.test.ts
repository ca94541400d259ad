import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { listOf, objectOf } from '../support/reported.ts';
import {
  ask,
  ASKINGS,
  nameOf,
  recordOf,
  startToolTurns,
  testTool,
  type Asking,
  type Model,
} from '../support/tool-turns.ts';
import { chatChunk, json, sse, type Script } from '../support/upstream.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/chat', stream: true };
const TIME = [{ type: 'service:datetime', parameters: { timezone: 'Europe/Berlin' } }];
const FILES = [{ type: 'service:files' }];

/** Calls once, then repeats the result. */
const callsOnce: Model = ({ body }, at) =>
  at % 2 === 0
    ? { text: 'Let me look.', calls: [{ name: 'service_files', input: '{"at":1}' }] }
    : { text: `It said ${lastResult(body)}` };

/** The text of the result that came last, in either format. */
function lastResult(body: Readonly<Record<string, unknown>>): string {
  return resultsIn(body).at(-1)?.text ?? 'nothing';
}

interface Result {
  readonly id: string;
  readonly text: string;
}

function resultsIn(body: Readonly<Record<string, unknown>>): readonly Result[] {
  const messages = listOf(body['messages'] as JsonObject[]).map((message) => objectOf(message));
  return messages.flatMap((message) => {
    if (message['role'] === 'tool') return [{ id: textOf(message['tool_call_id']), text: textOf(message['content']) }];
    const content = Array.isArray(message['content']) ? message['content'].map((block) => objectOf(block)) : [];
    return content
      .filter(({ type }) => type === 'tool_result')
      .map((block) => ({ id: textOf(block['tool_use_id']), text: textOf(block['content']) }));
  });
}

/** A text, or the texts of its parts. */
function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => textOf(objectOf(part)['text']))
    .join('');
}

/** Calls of server tools and their results, as the caller sees them. */
function serverCalls(message: JsonObject): readonly JsonObject[] {
  const details = listOf(message['reasoning_details']).map((detail) => objectOf(detail));
  const blocks = listOf(message['content'] as JsonObject[]).map((block) => objectOf(block));
  return [...details, ...blocks].filter(
    ({ type }) =>
      type === 'reasoning.server_tool_call' || type === 'server_tool_use' || textOf(type).endsWith('_tool_result'),
  );
}

suite('the loop of a server tool', () => {
  for (const asking of ASKINGS) {
    test(nameOf(asking), async (t) => {
      const files = testTool('files', async ({ input }) => ({ result: { got: input['at'] as number } }));
      const turns = await startToolTurns(t, callsOnce, { serverTools: [files] });
      const reported = await ask(turns, asking, { tools: FILES }, { 'x-service-metadata': 'enabled' });
      assert.equal(reported.status, 200);
      assert.equal(reported.text.replace('\n\n', ''), 'Let me look.It said {"got":1}');
      if (asking.format === 'chat') assert.equal(reported.text, 'Let me look.\n\nIt said {"got":1}');
      assert.deepEqual(reported.calls, [], 'nothing is left for the caller to run');
      assert.equal(reported.finish, asking.format === 'chat' ? 'stop' : 'end_turn');
      const shown = serverCalls(reported.message);
      if (asking.format === 'chat') {
        assert.deepEqual(
          shown.map(({ tool_name: name, arguments: given, result }) => [name, given, result]),
          [['service:files', '{"at":1}', '{"got":1}']],
        );
      } else {
        const [call, result] = shown;
        assert.match(textOf(call?.['id']), /^srvtoolu_\w+$/);
        assert.deepEqual([call?.['type'], call?.['name'], call?.['input']], ['server_tool_use', 'files', { at: 1 }]);
        assert.equal(result?.['tool_use_id'], call?.['id']);
        assert.equal(result?.['type'], 'service_files_tool_result');
        assert.deepEqual(result?.['content'], { got: 1 });
      }
      // Two turns of 10 and 5 tokens.
      const counts =
        asking.format === 'chat' ? ['prompt_tokens', 'completion_tokens'] : ['input_tokens', 'output_tokens'];
      assert.deepEqual(
        counts.map((count) => reported.usage[count]),
        [20, 10],
      );
      assert.equal(reported.usage['cost'], 0.00004);
      assert.deepEqual((await recordOf(turns.gateway, reported.id)).warnings, [], 'nothing is lost on the way');
      const { arrived } = asking.model === 'acme/chat' ? turns.chat : turns.messages;
      assert.equal(arrived.length, 2);
    });
  }
});

suite('the model', () => {
  // @spec tool-4
  test('gets a function with the schema of the arguments, and no server tool', async (t) => {
    const turns = await startToolTurns(t, () => ({ text: 'Hi.' }));
    await ask(turns, CHAT, { tools: [...TIME, { type: 'function', function: { name: 'mine' } }] });
    const [tool, mine] = listOf(turns.chat.arrived[0]?.body['tools'] as JsonObject[]).map((one) => objectOf(one));
    const { name, parameters, description } = objectOf(tool?.['function']);
    assert.equal(name, 'service_datetime');
    assert.deepEqual(parameters, { type: 'object', properties: {}, additionalProperties: false });
    assert.match(textOf(description), /Europe\/Berlin/);
    assert.equal(objectOf(mine?.['function'])['name'], 'mine');
  });

  // @spec tool-7
  test('gets its own turn back unchanged, with reasoning, signature and ids', async (t) => {
    const turns = await startToolTurns(t, (_arrived, at) =>
      at === 0
        ? { thinking: 'Hm.', text: 'One moment.', calls: [{ id: 'toolu_x', name: 'service_datetime' }] }
        : { text: 'Late.' },
    );
    await ask(
      turns,
      { format: 'messages', model: 'acme/messages', stream: true },
      {
        tools: TIME,
        max_tokens: 3_000,
        thinking: { type: 'enabled', budget_tokens: 2_000 },
      },
    );
    const messages = listOf(turns.messages.arrived[1]?.body['messages'] as JsonObject[]).map((one) => objectOf(one));
    assert.deepEqual(messages[1], {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'signed(Hm.)' },
        { type: 'text', text: 'One moment.' },
        { type: 'tool_use', id: 'toolu_x', name: 'service_datetime', input: {} },
      ],
    });
    assert.equal(messages[2]?.['role'], 'user');
    assert.equal(objectOf(listOf(messages[2]?.['content'])[0])['tool_use_id'], 'toolu_x');
    assert.deepEqual(turns.messages.arrived[0]?.body['tools'], turns.messages.arrived[1]?.body['tools']);
  });

  // @spec tool-6
  test('may call in parallel, and the calls run at the same time', async (t) => {
    let running = 0;
    let most = 0;
    const both = Promise.withResolvers<void>();
    const files = testTool('files', async ({ input }) => {
      running++;
      most = Math.max(most, running);
      if (running === 2) both.resolve();
      await both.promise;
      running--;
      return { result: { at: input['at'] as number } };
    });
    const calls = [1, 2].map((at) => ({ name: 'service_files', input: JSON.stringify({ at }) }));
    const turns = await startToolTurns(t, (_arrived, at) => (at === 0 ? { calls } : { text: 'Both.' }), {
      serverTools: [files],
    });
    const reported = await ask(turns, CHAT, { tools: FILES });
    assert.equal(most, 2);
    assert.deepEqual(
      resultsIn(turns.chat.arrived[1]?.body ?? {}).map(({ text }) => text),
      ['{"at":1}', '{"at":2}'],
    );
    assert.deepEqual(reported.usage['server_tool_use_details'], {
      tool_calls_requested: 2,
      tool_calls_executed: 2,
      web_search_requests: 0,
    });
  });
});

suite('a forced server tool', () => {
  const once: Model = (_arrived, at) => (at === 0 ? { calls: [{ name: 'service_datetime' }] } : { text: 'Noon.' });

  // @spec tool-9
  test('is forced in the first turn, and in no later one', async (t) => {
    const turns = await startToolTurns(t, once);
    await ask(turns, CHAT, { tools: TIME, tool_choice: { type: 'service:datetime' } });
    const choices = turns.chat.arrived.map(({ body }) => body['tool_choice']);
    assert.deepEqual(choices, [{ type: 'function', function: { name: 'service_datetime' } }, undefined]);
  });

  test('is forced by its type in the messages format', async (t) => {
    const turns = await startToolTurns(t, once);
    const asking: Asking = { format: 'messages', model: 'acme/messages', stream: false };
    await ask(turns, asking, { tools: TIME, tool_choice: { type: 'tool', name: 'service:datetime' } });
    const choices = turns.messages.arrived.map(({ body }) => body['tool_choice']);
    assert.deepEqual(choices, [{ type: 'tool', name: 'service_datetime' }, undefined]);
  });

  // @spec tool-9
  test('holds for the first turn only with "required"', async (t) => {
    const turns = await startToolTurns(t, once);
    await ask(turns, CHAT, { tools: TIME, tool_choice: 'required' });
    assert.deepEqual(
      turns.chat.arrived.map(({ body }) => body['tool_choice']),
      ['required', undefined],
    );
  });

  // @spec chat-27
  test('is 400 when it is not among the tools', async (t) => {
    const turns = await startToolTurns(t, once);
    const answer = await turns.gateway.post('/chat/completions', {
      model: 'acme/chat',
      messages: [{ role: 'user', content: 'Go.' }],
      tools: TIME,
      tool_choice: { type: 'service:files' },
    });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /tool_choice/);
  });
});

// @spec tool-4
suite('an impossible offer', () => {
  const cases: readonly (readonly [string, 'chat' | 'messages', readonly object[], RegExp])[] = [
    [
      'a zone that does not exist',
      'chat',
      [{ type: 'service:datetime', parameters: { timezone: 'Mars/Base' } }],
      /tools\[0\]\.parameters\.timezone/,
    ],
    [
      'a parameter that the tool has not',
      'chat',
      [{ type: 'service:datetime', parameters: { zone: 'UTC' } }],
      /tools\[0\]\.parameters/,
    ],
    ['a tool that is listed twice', 'chat', [...TIME, ...TIME], /tools\[1\]\.type/],
    [
      'a function of the same name',
      'chat',
      [...TIME, { type: 'function', function: { name: 'service_datetime' } }],
      /tools\[1\]/,
    ],
    ['a tool that is not built', 'chat', [{ type: 'service:weather' }], /service:weather/],
    ['an unknown one', 'messages', [{ type: 'service:crystal_ball' }], /tools\[0\]\.type/],
    [
      'a shell in the sandbox that there is not',
      'messages',
      [{ type: 'service:bash', parameters: { engine: 'service' } }],
      /tools\[0\]\.parameters\.engine: .*containers\.runtime/,
    ],
    ['a shell without containers', 'messages', [{ type: 'service:shell' }], /service:shell.*containers\.runtime/],
    [
      'functions of the caller inside of a subagent',
      'chat',
      [{ type: 'service:subagent', parameters: { inherit_functions: true } }],
      /tools\[0\]\.parameters\.inherit_functions: is not supported by this version/,
    ],
  ];
  for (const [name, format, tools, message] of cases) {
    test(name, async (t) => {
      const turns = await startToolTurns(t, () => ({ text: 'Hi.' }));
      const answer = await turns.gateway.post(format === 'chat' ? '/chat/completions' : '/messages', {
        model: 'acme/chat',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Go.' }],
        tools,
      });
      const text = await answer.text();
      assert.equal(answer.status, 400, text);
      assert.match(text, message);
      assert.equal(turns.chat.arrived.length, 0);
    });
  }
});

suite('a tool that fails', () => {
  const failures = {
    throws: () => Promise.reject(new TypeError('a bug of the tool')),
    'says so': () => Promise.resolve({ result: { status: 'error', error: 'no such file' }, failed: true as const }),
  };
  for (const [how, run] of Object.entries(failures)) {
    // @spec tool-11
    test(`gives the model an error when it ${how}, and the request continues`, async (t) => {
      const turns = await startToolTurns(t, callsOnce, { serverTools: [testTool('files', run)] });
      const reported = await ask(turns, { ...CHAT, stream: false }, { tools: FILES });
      assert.equal(reported.status, 200);
      assert.match(reported.text, /It said (?:Error: )?\{"status":"error","error":"/);
      assert.ok(!reported.text.includes('a bug of the tool'), 'what broke is for the operator');
    });
  }

  // @spec tool-11
  test('tells the model which arguments are wrong', async (t) => {
    const model: Model = ({ body }, at) =>
      at === 0
        ? { calls: [{ name: 'service_experimental__search_models', input: '{"min_context_length":-1}' }] }
        : { text: lastResult(body) };
    const turns = await startToolTurns(t, model);
    const reported = await ask(turns, CHAT, { tools: [{ type: 'service:experimental__search_models' }] });
    assert.match(reported.text, /arguments\.min_context_length/);
  });

  test('continues after arguments that are not JSON', async (t) => {
    const model: Model = ({ body }, at) =>
      at === 0 ? { calls: [{ name: 'service_datetime', input: '{"half' }] } : { text: lastResult(body) };
    const turns = await startToolTurns(t, model);
    const reported = await ask(turns, CHAT, { tools: TIME });
    assert.match(reported.text, /not a JSON object/);
  });

  // @spec tool-11
  test('is aborted after its time limit, and the model reads that', async (t) => {
    const ended = Promise.withResolvers<string>();
    const files = testTool(
      'files',
      ({ signal }) =>
        new Promise((_resolve) => {
          signal.addEventListener('abort', () => ended.resolve(String(signal.reason)));
        }),
      { callMsMax: 50 },
    );
    const turns = await startToolTurns(t, callsOnce, { serverTools: [files] });
    const reported = await ask(turns, CHAT, { tools: FILES });
    assert.match(reported.text, /no result within/);
    assert.equal(await ended.promise, 'time');
  });
});

test('runs no tools after a turn that ends with an error', async (t) => {
  let ran = 0;
  const files = testTool('files', () => Promise.resolve({ result: { run: ++ran } }));
  const model: Model = () => ({ text: 'I begin.', calls: [{ name: 'service_files' }], finish: 'error' });
  const turns = await startToolTurns(t, model, { serverTools: [files] });
  const reported = await ask(turns, CHAT, { tools: FILES });
  assert.equal(reported.finish, 'error');
  assert.deepEqual([ran, turns.chat.arrived.length], [0, 1]);
});

// @spec tool-12
test('limits the results of one request together, and the model reads that', async (t) => {
  const long = testTool('files', () => Promise.resolve({ result: 'x'.repeat(999_000) }));
  const calls = Array.from({ length: 10 }, () => ({ name: 'service_files' })).map((call, at) => ({
    ...call,
    id: `c${at}`,
  }));
  const turns = await startToolTurns(t, (_arrived, at) => (at === 0 ? { calls } : { text: 'Enough.' }), {
    serverTools: [long],
  });
  const reported = await ask(turns, { ...CHAT, stream: false }, { tools: FILES });
  assert.equal(reported.text, 'Enough.');
  const results = resultsIn(turns.chat.arrived[1]?.body ?? {}).map(({ text }) => text);
  assert.equal(results.filter((text) => text.includes('too long together')).length, 2);
});

test('cuts off a turn without an end', async (t) => {
  const piece = 'x'.repeat(262_144);
  const endless: Script = (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = (): void => {
      while (!response.destroyed && response.write(sse([chatChunk({ content: piece })])));
    };
    response.on('drain', more);
    more();
  };
  const turns = await startToolTurns(t, () => endless);
  const reported = await ask(turns, CHAT, { tools: TIME });
  assert.equal(reported.finish, 'error');
  assert.ok(reported.text.length >= 16_777_216 && reported.text.length < 20_000_000, String(reported.text.length));
});

suite('a turn that fails after a tool has run', () => {
  const TWO_PROVIDERS = `
  acme/both:
    endpoints:
      - { provider: chatty, model: one-2026, price: { prompt: 1, completion: 2 } }
      - { provider: wordy, model: claude-sonnet-4-6, price: { prompt: 1, completion: 2 } }
`;

  // @spec tool-8
  test('moves to another endpoint without repeating earlier turns', async (t) => {
    let chatAsked = 0;
    const model: Model = ({ path }) => {
      if (path.endsWith('/messages')) return { text: 'Said by another.' };
      return chatAsked++ === 0 ? { calls: [{ name: 'service_datetime' }] } : json(500, { error: { message: 'no' } });
    };
    const turns = await startToolTurns(t, model, { yaml: TWO_PROVIDERS });
    const reported = await ask(turns, { ...CHAT, model: 'acme/both' }, { tools: TIME });
    assert.equal(reported.text, 'Said by another.');
    assert.equal(turns.chat.arrived.length, 2);
    assert.equal(turns.messages.arrived.length, 1);
    assert.equal(resultsIn(turns.messages.arrived[0]?.body ?? {}).length, 1, 'it reads the result of the tool');
  });

  test('is continued by another endpoint in the middle, with failover enabled', async (t) => {
    const half = 'The clock on the tower of the town hall says that it is ';
    const breaks: Script = (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse([chatChunk({ role: 'assistant', content: half })]), () => response.destroy());
    };
    let chatAsked = 0;
    const model: Model = ({ path }) => {
      if (path.endsWith('/messages')) return { text: `${half}noon.` };
      return chatAsked++ === 0 ? { text: 'Let me look.', calls: [{ name: 'service_datetime' }] } : breaks;
    };
    const turns = await startToolTurns(t, model, { yaml: TWO_PROVIDERS });
    const rescue = { 'x-service-rescue': 'enabled' };
    const reported = await ask(turns, { ...CHAT, model: 'acme/both' }, { tools: TIME }, rescue);
    assert.equal(reported.text, `Let me look.\n\n${half}noon.`);
    assert.equal(reported.finish, 'stop');
    const record = await recordOf(turns.gateway, reported.id);
    assert.equal(record.attempts.length, 3);
    assert.equal(record.attempts.filter(({ part }) => part !== undefined).length, 3, 'each is paid for its part');
  });

  test('is an error without charged tokens when it fails everywhere', async (t) => {
    const model: Model = (_arrived, at) =>
      at === 0 ? { calls: [{ name: 'service_datetime' }] } : json(400, { error: { message: 'too long' } });
    const turns = await startToolTurns(t, model);
    const whole = await turns.gateway.post('/chat/completions', {
      model: 'acme/chat',
      messages: [{ role: 'user', content: 'Go.' }],
      tools: TIME,
    });
    assert.equal(whole.status, 400, await whole.text());
  });
});

// @spec tool-24
test('names the tools that ran in the stage, which is absent without any', async (t) => {
  const turns = await startToolTurns(t, (_arrived, at) =>
    at === 0 ? { calls: [{ name: 'service_datetime' }] } : { text: 'Noon.' },
  );
  const body = { model: 'acme/chat', messages: [{ role: 'user', content: 'Go.' }], tools: TIME };
  const stagesOf = async (): Promise<readonly JsonObject[]> => {
    const answer = await turns.gateway.post('/chat/completions', body, { 'x-service-metadata': 'enabled' });
    const { service_metadata: metadata } = objectOf((await answer.json()) as JsonObject);
    assert.equal(objectOf(metadata)['attempt'], 1, 'a later turn is no further attempt');
    return listOf(objectOf(metadata)['pipeline']).map((stage) => objectOf(stage));
  };
  const stage = (await stagesOf()).find(({ type }) => type === 'server_tools');
  assert.equal(stage?.['name'], 'server-tools');
  assert.deepEqual(stage?.['data'], { mode: 'sdk', tools: ['service:datetime'], calls: 1, turns: 2 });
  assert.equal(
    (await stagesOf()).find(({ type }) => type === 'server_tools'),
    undefined,
  );
});

test('keeps the stage when a later turn breaks off', async (t) => {
  const breaks: Script = (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse([chatChunk({ role: 'assistant', content: 'It is' })]), () => response.destroy());
  };
  const model: Model = (_arrived, at) => (at === 0 ? { calls: [{ name: 'service_datetime' }] } : breaks);
  const turns = await startToolTurns(t, model);
  const body = { model: 'acme/chat', messages: [{ role: 'user', content: 'Go.' }], tools: TIME };
  const answer = await turns.gateway.post('/chat/completions', body, { 'x-service-metadata': 'enabled' });
  const { service_metadata: metadata } = objectOf((await answer.json()) as JsonObject);
  const stages = listOf(objectOf(metadata)['pipeline']).map((stage) => objectOf(stage));
  const stage = stages.find(({ type }) => type === 'server_tools');
  assert.deepEqual(stage?.['data'], { mode: 'sdk', tools: ['service:datetime'], calls: 1, turns: 2 });
});
