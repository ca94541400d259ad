import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { messageOf, resultsFor } from '../support/next-turn.ts';
import { listOf, objectOf, type Told } from '../support/told.ts';
import {
  ask,
  ASKINGS,
  nameOf,
  startToolTurns,
  testTool,
  type Asking,
  type Model,
  type Said,
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
    const said = typeof content === 'string' ? [content] : listOf(content as JsonObject[]).map(drawBlock);
    return [role, ...said, ...calls];
  });
}

function drawBlock(block: unknown): unknown {
  const { type, text, id, name, input, tool_use_id: callId, content } = objectOf(block as JsonObject);
  if (type === 'tool_use') return ['call', id, name, JSON.stringify(input)];
  if (type === 'tool_result')
    return ['result', callId, typeof content === 'string' ? content : objectOf(listOf(content)[0])['text']];
  return text;
}

async function play(t: Parameters<typeof startToolTurns>[0], asking: Asking, said: readonly Said[]) {
  const model: Model = (_arrived, at) => said[at] ?? { text: 'The end.' };
  const turns = await startToolTurns(t, model, { serverTools: [files] });
  const tools = toolsOf(asking);
  const user = { role: 'user', content: 'Go.' };
  const { arrived } = asking.model === 'acme/chat' ? turns.chat : turns.messages;
  return {
    ...turns,
    arrived,
    first: () => ask(turns, asking, { tools }),
    goOn: (told: Told, more: readonly object[]) =>
      ask(turns, asking, { tools, messages: [user, messageOf(asking.format, told), ...more] }),
  };
}

suite('a turn that calls a server tool and a function of the caller', () => {
  const both: Said = {
    text: 'Two at once.',
    calls: [
      { id: 'id_1', name: 'service_files', input: '{"at":1}' },
      { id: 'id_2', name: 'mine', input: '{"at":2}' },
    ],
  };
  for (const asking of ASKINGS) {
    test(`hands the caller its own call alone, and the next request has the result of the other: ${nameOf(asking)}`, async (t) => {
      const played = await play(t, asking, [both]);
      const told = await played.first();
      assert.deepEqual(
        told.calls.map(({ name, arguments: given }) => [name, JSON.parse(given)]),
        [['mine', { at: 2 }]],
      );
      assert.equal(told.finish, asking.format === 'chat' ? 'tool_calls' : 'tool_use');
      assert.equal(played.arrived.length, 1, 'the caller is to run its call first');
      const next = await played.goOn(told, resultsFor(asking.format, told, 'mine said'));
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

suite('an answer of several turns', () => {
  const said: readonly Said[] = [
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
    test(`comes apart again into the turns that it was given in: ${nameOf(asking)}`, async (t) => {
      const played = await play(t, asking, said);
      const told = await played.first();
      assert.equal(told.text, 'Three files.');
      const before = conversation(played.arrived[2]?.body ?? {});
      await played.goOn(told, [{ role: 'user', content: 'And now?' }]);
      assert.deepEqual(conversation(played.arrived[3]?.body ?? {}), [
        ...before,
        ['assistant', 'Three files.'],
        ['user', 'And now?'],
      ]);
    });
  }

  test('is not sent upstream in the words of callers where the tool is offered no more', async (t) => {
    for (const model of ['acme/chat', 'acme/messages']) {
      const asking: Asking = { format: 'messages', model, stream: false };
      const played = await play(t, asking, said);
      const told = await played.first();
      const messages = [
        { role: 'user', content: 'Go.' },
        messageOf('messages', told),
        { role: 'user', content: 'So?' },
      ];
      await ask(played, asking, { messages });
      const text = JSON.stringify(played.arrived[3]?.body['messages']);
      assert.match(text, /Three files\./);
      assert.doesNotMatch(text, /srvtoolu_service|service_files/);
    }
  });
});
