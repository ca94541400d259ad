import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { messageOf, resultsFor } from '../support/next-turn.ts';
import { listOf, objectOf, type Reported } from '../support/reported.ts';
import {
  ask,
  ASKINGS,
  nameOf,
  startToolTurns,
  testTool,
  type Asking,
  type Model,
  type Stated,
} from '../support/tool-turns.ts';

const parameters = { type: 'object', properties: { at: { type: 'integer' } } };

function toolsOf({ format }: Asking): readonly object[] {
  const mine =
    format === 'chat'
      ? { type: 'function', function: { name: 'mine', parameters } }
      : { name: 'mine', input_schema: parameters };
  return [{ type: 'service:files' }, mine];
}

const files = testTool('files', ({ input }) => Promise.resolve({ result: { got: input['at'] as number } }));

/** The conversation in the words of the upstream: role, then what it holds. */
function conversation(body: Readonly<Record<string, unknown>>): readonly unknown[] {
  return listOf(body['messages'] as JsonObject[]).map((one) => {
    const message = objectOf(one);
    const { role, content } = message;
    if (role === 'tool') return ['result', message['tool_call_id'], content];
    const calls = listOf(message['tool_calls']).map((call) => {
      const { id, function: called } = objectOf(call);
      return ['call', id, objectOf(called)['name'], objectOf(called)['arguments']];
    });
    const stated = typeof content === 'string' ? [content] : listOf(content as JsonObject[]).map(formatBlock);
    return [role, ...stated, ...calls];
  });
}

function formatBlock(block: unknown): unknown {
  const { type, text, id, name, input, tool_use_id: callId, content } = objectOf(block as JsonObject);
  if (type === 'tool_use') return ['call', id, name, JSON.stringify(input)];
  if (type === 'tool_result')
    return ['result', callId, typeof content === 'string' ? content : objectOf(listOf(content)[0])['text']];
  return text;
}

async function play(t: Parameters<typeof startToolTurns>[0], asking: Asking, stated: readonly Stated[]) {
  const model: Model = (_arrived, at) => stated[at] ?? { text: 'The end.' };
  const turns = await startToolTurns(t, model, { serverTools: [files] });
  const tools = toolsOf(asking);
  const user = { role: 'user', content: 'Go.' };
  const { arrived } = asking.model === 'acme/chat' ? turns.chat : turns.messages;
  return {
    ...turns,
    arrived,
    first: () => ask(turns, asking, { tools }),
    goOn: (reported: Reported, more: readonly object[]) =>
      ask(turns, asking, { tools, messages: [user, messageOf(asking.format, reported), ...more] }),
  };
}

suite('a turn that calls a server tool and a function of the caller', () => {
  const both: Stated = {
    text: 'Two at once.',
    calls: [
      { id: 'id_1', name: 'service_files', input: '{"at":1}' },
      { id: 'id_2', name: 'mine', input: '{"at":2}' },
    ],
  };
  for (const asking of ASKINGS) {
    // @spec tool-10
    test(`returns only the caller's own call, and keeps the other's result for the next request: ${nameOf(asking)}`, async (t) => {
      const played = await play(t, asking, [both]);
      const reported = await played.first();
      assert.deepEqual(
        reported.calls.map(({ name, arguments: given }) => [name, JSON.parse(given)]),
        [['mine', { at: 2 }]],
      );
      assert.equal(reported.finish, asking.format === 'chat' ? 'tool_calls' : 'tool_use');
      assert.equal(played.arrived.length, 1, 'the caller is to run its call first');
      const next = await played.goOn(reported, resultsFor(asking.format, reported, 'mine said'));
      assert.equal(next.text, 'The end.');
      const chat = asking.model === 'acme/chat';
      const calls = [
        ['call', 'id_1', 'service_files', '{"at":1}'],
        ['call', 'id_2', 'mine', '{"at":2}'],
      ];
      const results = [
        ['result', 'id_1', '{"got":1}'],
        ['result', 'id_2', 'mine said'],
      ];
      assert.deepEqual(conversation(played.arrived[1]?.body ?? {}), [
        ['user', 'Go.'],
        ['assistant', 'Two at once.', ...calls],
        ...(chat ? results : [['user', ...results]]),
      ]);
    });
  }
});

suite('a response of several turns', () => {
  const stated: readonly Stated[] = [
    {
      calls: [
        { id: 'id_1', name: 'service_files', input: '{"at":1}' },
        { id: 'id_2', name: 'service_files', input: '{"at":2}' },
      ],
    },
    { calls: [{ id: 'id_3', name: 'service_files', input: '{"at":3}' }] },
    { text: 'Three files.' },
  ];
  for (const asking of ASKINGS) {
    // @spec tool-21
    test(`is restored to its turns: ${nameOf(asking)}`, async (t) => {
      const played = await play(t, asking, stated);
      const reported = await played.first();
      assert.equal(reported.text, 'Three files.');
      const before = conversation(played.arrived[2]?.body ?? {});
      await played.goOn(reported, [{ role: 'user', content: 'And now?' }]);
      assert.deepEqual(conversation(played.arrived[3]?.body ?? {}), [
        ...before,
        ['assistant', 'Three files.'],
        ['user', 'And now?'],
      ]);
    });
  }

  // @spec tool-21
  test("is not sent upstream in the caller's form when the tool is no longer offered", async (t) => {
    for (const model of ['acme/chat', 'acme/messages']) {
      const asking: Asking = { format: 'messages', model, stream: false };
      const played = await play(t, asking, stated);
      const reported = await played.first();
      const messages = [
        { role: 'user', content: 'Go.' },
        messageOf('messages', reported),
        { role: 'user', content: 'So?' },
      ];
      await ask(played, asking, { messages });
      const text = JSON.stringify(played.arrived[3]?.body['messages']);
      assert.match(text, /Three files\./);
      assert.doesNotMatch(text, /srvtoolu_service|service_files/);
    }
  });
});
