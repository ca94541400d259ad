import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { messageOf } from '../support/next-turn.ts';
import { textAt } from '../support/byok.ts';
import { listOf, objectOf } from '../support/reported.ts';
import {
  ask,
  recordOf,
  startToolTurns,
  type Asking,
  type Model,
  type Stated,
  type ToolTurns,
} from '../support/tool-turns.ts';
import { json, type Arrived } from '../support/upstream.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/chat', stream: true };
const ADVISED = 'acme/messages';

/** A model that calls an advisor, and the advisor. */
function both(asks: Model, advises: (arrived: Arrived, at: number) => Stated): Model {
  return (arrived, at) => (arrived.path.endsWith('/messages') ? advises(arrived, at) : asks(arrived, at));
}

function asking(input: object, name = 'service_advisor'): Model {
  return (_arrived, at) =>
    at === 0 ? { calls: [{ name, input: JSON.stringify(input) }] } : { text: 'I was advised.' };
}

const advisor = (parameters: object = {}): object => ({
  type: 'service:advisor',
  parameters: { model: ADVISED, ...parameters },
});

/** Roles and texts, as the advisor received them. */
function messagesTo({ messages }: ToolTurns, at = 0): readonly (readonly [role: string, text: string])[] {
  return listOf(messages.arrived[at]?.body['messages'] as JsonObject[]).map((message) => {
    const { content } = objectOf(message);
    return [textAt(objectOf(message), 'role'), textIn(content)];
  });
}

function textIn(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((block) => textAt(objectOf(block), 'text'))
    .join('\n');
}

function resultsOf(message: JsonObject): readonly JsonObject[] {
  return listOf(message['reasoning_details']).map(
    (detail) => JSON.parse(textAt(objectOf(detail), 'result')) as JsonObject,
  );
}

// @spec tool-35
test('gives an advisor only the prompt and its instructions, and returns its advice', async (t) => {
  const turns = await startToolTurns(
    t,
    both(asking({ prompt: 'Which way?' }), () => ({ text: 'Left.' })),
  );
  const settings = { instructions: 'Be wise.', max_completion_tokens: 77, temperature: 0.5 };
  const reported = await ask(turns, CHAT, { tools: [advisor(settings)] });
  assert.equal(reported.text, 'I was advised.');
  assert.deepEqual(resultsOf(reported.message), [{ status: 'ok', model: ADVISED, advice: 'Left.' }]);
  assert.deepEqual(messagesTo(turns), [['user', 'Which way?']]);
  const { body } = turns.messages.arrived[0] ?? {};
  assert.deepEqual(
    [textIn(body?.['system'] as Json), body?.['max_tokens'], body?.['temperature']],
    ['Be wise.', 77, 0.5],
  );
  assert.equal(body?.['tools'], undefined);
  const record = await recordOf(turns.gateway, reported.id);
  assert.equal(record.model, 'acme/chat');
  // Two turns of the calling model and one of the advisor, of 10 and 5 tokens each: the record has its own two.
  assert.deepEqual([reported.usage['cost'], record.costNanoUsd], [60_000 / 1e9, 40_000]);
});

suite('the model of an advisor', () => {
  const model = (input: object): Model => both(asking(input), () => ({ text: 'Yes.' }));

  // @spec tool-34
  test('is the one of its definition, whatever the call says', async (t) => {
    const turns = await startToolTurns(t, model({ prompt: 'So?', model: 'acme/chat' }));
    await ask(turns, CHAT, { tools: [advisor()] });
    assert.equal(turns.messages.arrived.length, 1);
    const offered = JSON.stringify(turns.chat.arrived[0]?.body['tools']);
    assert.doesNotMatch(offered, /slug of the model/, 'the model is not even offered the choice');
  });

  test('is the one of the call without a definition', async (t) => {
    const turns = await startToolTurns(t, model({ prompt: 'So?', model: ADVISED }));
    await ask(turns, CHAT, { tools: [{ type: 'service:advisor' }] });
    assert.equal(turns.messages.arrived.length, 1);
  });

  test('is at no provider that the request excludes', async (t) => {
    for (const provider of [{ only: ['chatty'] }, { ignore: ['wordy'] }]) {
      const turns = await startToolTurns(t, model({ prompt: 'So?' }));
      const reported = await ask(turns, CHAT, { tools: [advisor()], provider });
      assert.equal(resultsOf(reported.message)[0]?.['status'], 'error');
      assert.equal(turns.messages.arrived.length, 0);
    }
  });

  test('is the calling model by default', async (t) => {
    const turns = await startToolTurns(t, asking({ prompt: 'So?' }));
    const reported = await ask(turns, CHAT, { tools: [{ type: 'service:advisor' }] });
    assert.equal(turns.chat.arrived.length, 3);
    assert.equal(resultsOf(reported.message)[0]?.['model'], 'acme/chat');
  });
});

// @spec tool-35
test('forwards the whole conversation, with the prompt as the last user message', async (t) => {
  const model = both(
    (_arrived, at) => {
      if (at === 0) return { text: 'Wait.', calls: [{ name: 'service_datetime' }] };
      return at === 1 ? { calls: [{ name: 'service_advisor', input: '{"prompt":"What now?"}' }] } : { text: 'Done.' };
    },
    () => ({ text: 'Go on.' }),
  );
  const turns = await startToolTurns(t, model);
  const messages = [
    { role: 'system', content: 'You plan trips.' },
    { role: 'user', content: 'Plan one.' },
  ];
  const tools = [{ type: 'service:datetime' }, advisor({ forward_transcript: true })];
  await ask(turns, CHAT, { messages, tools });
  const sent = turns.messages.arrived[0]?.text ?? '';
  for (const stated of ['You plan trips.', 'Plan one.', 'Wait.', 'service_datetime', 'timezone'])
    assert.ok(sent.includes(stated), `${stated}: ${sent}`);
  assert.match(JSON.stringify(messagesTo(turns).at(-1)), /What now\?/);
  assert.doesNotMatch(sent, /"tool_use"|"tool_result"/, 'no vendor takes calls of tools that are not there');
});

suite('the memory of an advisor', () => {
  const model = both(
    ({ body }, at) => {
      const last = objectOf(listOf(body['messages'] as JsonObject[]).at(-1));
      if (last['role'] === 'tool') return { text: `Advised ${at}.` };
      return {
        calls: [
          { id: `call_a${at}`, name: 'service_advisor', input: `{"prompt":"first ${at}"}` },
          { id: `call_b${at}`, name: 'service_advisor__1', input: `{"prompt":"second ${at}"}` },
        ],
      };
    },
    ({ body }) => {
      const stated = objectOf(listOf(body['messages'] as JsonObject[]).at(-1))['content'];
      return { text: `advice on ${textIn(stated)}` };
    },
  );
  const tools = [advisor(), advisor({ name: 'Second' })];

  for (const format of ['chat', 'messages'] as const)
    // @spec tool-35
    test(`contains its own earlier advice, and not that of another: ${format}`, async (t) => {
      const turns = await startToolTurns(t, model);
      const requested = { ...CHAT, format };
      const user = { role: 'user', content: 'Go.' };
      const first = await ask(turns, requested, { messages: [user], tools });
      assert.equal(turns.messages.arrived.length, 2);
      const again = [user, messageOf(format, first), { role: 'user', content: 'Again.' }];
      await ask(turns, requested, { messages: again, tools });
      const conversations = [messagesTo(turns, 2), messagesTo(turns, 3)].map((messages) => JSON.stringify(messages));
      const [one] = conversations.filter((text) => text.includes('first 2'));
      assert.ok(one !== undefined && one.includes('advice on first 0') && !one.includes('second'), one);
      assert.match(one, /first 0.*advice on first 0.*first 2/, 'oldest first');
      const [two] = conversations.filter((text) => text.includes('second 2'));
      assert.ok(two !== undefined && two.includes('advice on second 0') && !two.includes('first'), two);
    });

  test('is found in calls that the caller replays as its own', async (t) => {
    const turns = await startToolTurns(
      t,
      both(asking({ prompt: 'And now?' }), () => ({ text: 'Right.' })),
    );
    const replayed = [
      { role: 'user', content: 'Go.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'service_advisor', arguments: '{"prompt":"Before?"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"status":"ok","model":"x","advice":"Straight on."}' },
      { role: 'user', content: 'Go on.' },
    ];
    await ask(turns, CHAT, { messages: replayed, tools: [advisor()] });
    assert.deepEqual(messagesTo(turns), [
      ['user', 'Before?'],
      ['assistant', 'Straight on.'],
      ['user', 'And now?'],
    ]);
  });

  test('loses its middle when it does not fit its model', async (t) => {
    const yaml = `  acme/small: { context_length: 10000, endpoints: [{ provider: wordy, model: small, price: { prompt: 1, completion: 2 } }] }`;
    const turns = await startToolTurns(
      t,
      both(asking({ prompt: 'And now?' }), () => ({ text: 'Right.' })),
      { yaml },
    );
    const earlier = Array.from({ length: 9 }, (_, at) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: `c${at}`,
            type: 'function',
            function: { name: 'service_advisor', arguments: JSON.stringify({ prompt: `Question ${at}?` }) },
          },
        ],
      },
      {
        role: 'tool',
        tool_call_id: `c${at}`,
        content: JSON.stringify({ status: 'ok', advice: `${at} ${'word '.repeat(1_500)}` }),
      },
    ]).flat();
    const messages = [{ role: 'user', content: 'Go.' }, ...earlier, { role: 'user', content: 'Go on.' }];
    const reported = await ask(turns, CHAT, {
      messages,
      tools: [advisor({ model: 'acme/small', max_completion_tokens: 50 })],
    });
    assert.deepEqual(resultsOf(reported.message)[0], { status: 'ok', model: 'acme/small', advice: 'Right.' });
    const sent = JSON.stringify(messagesTo(turns));
    assert.match(sent, /Question 8/, 'the last is remembered');
    assert.doesNotMatch(sent, /Question 4/);
  });
});

suite('an advisor that fails', () => {
  // @spec tool-37
  test('is an error that the model reads', async (t) => {
    const turns = await startToolTurns(t, asking({ prompt: 'So?' }));
    const reported = await ask(turns, CHAT, { tools: [advisor({ model: 'acme/unknown' })] });
    const [result] = resultsOf(reported.message);
    assert.equal(result?.['status'], 'error');
    assert.match(textAt(result, 'error'), /acme\/unknown/);
    assert.equal(reported.text, 'I was advised.');
  });

  test('is an error after a failed upstream, too', async (t) => {
    const fails = json(500, { error: { message: 'broken' } });
    const model: Model = (arrived, at) =>
      arrived.path.endsWith('/messages') ? fails : asking({ prompt: 'So?' })(arrived, at);
    const turns = await startToolTurns(t, model);
    const reported = await ask(turns, CHAT, { tools: [advisor()] });
    assert.equal(resultsOf(reported.message)[0]?.['status'], 'error');
    assert.equal(reported.finish, 'stop');
  });

  // @spec tool-38
  test('limits advisors to ten calls in one response, whatever their names', async (t) => {
    const model = both(
      (_arrived, at) => {
        const call = (id: number) => ({
          id: `call_${at}_${id}`,
          name: id % 2 === 0 ? 'service_advisor' : 'service_advisor__1',
          input: '{"prompt":"So?"}',
        });
        return at === 0 ? { calls: Array.from({ length: 12 }, (_, id) => call(id)) } : { text: 'Enough.' };
      },
      () => ({ text: 'Yes.' }),
    );
    const turns = await startToolTurns(t, model);
    const reported = await ask(turns, CHAT, { tools: [advisor(), advisor({ name: 'Other' })] });
    const results = resultsOf(reported.message);
    assert.equal(results.filter(({ status }) => status === 'ok').length, 10);
    assert.equal(results.filter(({ status }) => status === 'error').length, 2);
    assert.equal(turns.messages.arrived.length, 10);
  });
});

test('gives an advisor its own tools, and never another advisor', async (t) => {
  const model = both(asking({ prompt: 'So?' }), ({ body }, at) => {
    assert.deepEqual(
      listOf(body['tools'] as JsonObject[]).map((tool) => objectOf(tool)['name']),
      ['service_datetime'],
    );
    return at === 0 ? { calls: [{ name: 'service_datetime' }] } : { text: 'It is late.' };
  });
  const turns = await startToolTurns(t, model);
  const reported = await ask(turns, CHAT, { tools: [advisor({ tools: [{ type: 'service:datetime' }] })] });
  assert.equal(resultsOf(reported.message)[0]?.['advice'], 'It is late.');
});

// @spec messages-20
test("replaces the vendor's advisor for another vendor's model", async (t) => {
  const turns = await startToolTurns(
    t,
    both(asking({ prompt: 'So?' }), () => ({ text: 'Yes.' })),
  );
  const tools = [{ type: 'advisor_20260301', name: 'advisor', model: ADVISED, max_uses: 3 }];
  const reported = await ask(turns, { ...CHAT, format: 'messages' }, { tools });
  const blocks = listOf(reported.message['content']).map((block) => objectOf(block));
  assert.equal(blocks[0]?.['name'], 'advisor');
  assert.equal(blocks[1]?.['type'], 'advisor_tool_result');
  assert.deepEqual(blocks[1]['content'], { type: 'advisor_result', text: 'Yes.', model: ADVISED });
});

test('forces the first entry of a forced type', async (t) => {
  const turns = await startToolTurns(
    t,
    both(asking({ prompt: 'So?' }), () => ({ text: 'Yes.' })),
  );
  await ask(turns, CHAT, {
    tools: [advisor({ name: 'One' }), advisor()],
    tool_choice: { type: 'service:advisor' },
  });
  assert.deepEqual(turns.chat.arrived[0]?.body['tool_choice'], {
    type: 'function',
    function: { name: 'service_advisor' },
  });
});
