import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { textAt } from '../support/byok.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { ask, startToolTurns, type Asking, type Model, type Stated } from '../support/tool-turns.ts';
import type { Arrived } from '../support/upstream.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/chat', stream: true };
const AGENT = 'acme/messages';
const TASK = { task_name: 'count', task_description: 'Count to three.' };

function both(hands: Model, works: (arrived: Arrived, at: number) => Stated): Model {
  return (arrived, at) => (arrived.path.endsWith('/messages') ? works(arrived, at) : hands(arrived, at));
}

const handing: Model = (_arrived, at) =>
  at === 0 ? { calls: [{ name: 'service_subagent', input: JSON.stringify(TASK) }] } : { text: 'It is done.' };

const subagent = (parameters: object = {}): object => ({
  type: 'service:subagent',
  parameters: { model: AGENT, ...parameters },
});

function resultsOf(message: JsonObject): readonly JsonObject[] {
  return listOf(message['reasoning_details']).map(
    (detail) => JSON.parse(textAt(objectOf(detail), 'result')) as JsonObject,
  );
}

// @spec tool-36
test('gives a subagent only its task, and returns its result', async (t) => {
  const turns = await startToolTurns(
    t,
    both(handing, () => ({ text: 'One, two, three.' })),
  );
  const messages = [{ role: 'user', content: 'A secret.' }];
  const reasoning = { max_tokens: 2_000 };
  const reported = await ask(turns, CHAT, { messages, tools: [subagent({ instructions: 'Be exact.', reasoning })] });
  assert.deepEqual(resultsOf(reported.message), [
    { status: 'ok', model: AGENT, task_name: 'count', outcome: 'One, two, three.' },
  ]);
  const { body, text } = turns.messages.arrived[0] ?? {};
  const block = { type: 'text', text: 'Count to three.' };
  assert.deepEqual(body?.['messages'], [{ role: 'user', content: [block] }]);
  assert.deepEqual(body['system'], [{ type: 'text', text: 'Be exact.' }]);
  assert.equal(objectOf(body['thinking'] as JsonObject)['budget_tokens'], 2_000);
  assert.doesNotMatch(String(text), /A secret/);
});

// @spec tool-34
test('uses the calling model for a subagent without a model', async (t) => {
  const turns = await startToolTurns(t, handing);
  const reported = await ask(turns, CHAT, { tools: [{ type: 'service:subagent' }] });
  assert.equal(resultsOf(reported.message)[0]?.['model'], 'acme/chat');
  assert.equal(turns.messages.arrived.length, 0);
});

// @spec tool-37
test('names the task of a subagent that fails', async (t) => {
  const turns = await startToolTurns(t, handing);
  const reported = await ask(turns, CHAT, { tools: [subagent({ model: 'acme/unknown' })] });
  const [result] = resultsOf(reported.message);
  assert.deepEqual([result?.['status'], result?.['task_name']], ['error', 'count']);
  assert.match(textAt(result ?? {}, 'error'), /acme\/unknown/);
});

// @spec tool-38
test('limits subagents to twenty-five tasks in one response', async (t) => {
  const model = both(
    (_arrived, at) => {
      const calls = Array.from({ length: 26 }, (_, id) => ({
        id: `call_${id}`,
        name: 'service_subagent',
        input: JSON.stringify(TASK),
      }));
      return at === 0 ? { calls } : { text: 'Done.' };
    },
    () => ({ text: 'Yes.' }),
  );
  const turns = await startToolTurns(t, model);
  const reported = await ask(turns, CHAT, { tools: [subagent()] });
  assert.equal(resultsOf(reported.message).filter(({ status }) => status === 'ok').length, 25);
  assert.equal(turns.messages.arrived.length, 25);
});

// @spec tool-38
test('allows no subagent inside a subagent, at any depth, nor inside an advisor', async (t) => {
  const seen: unknown[] = [];
  const model = both(handing, ({ body }, at) => {
    seen.push(listOf((body['tools'] ?? []) as JsonObject[]).map((tool) => objectOf(tool)['name']));
    return at === 0 ? { calls: [{ name: 'service_advisor', input: '{"prompt":"So?"}' }] } : { text: 'Fine.' };
  });
  const turns = await startToolTurns(t, model);
  const inner = { type: 'service:subagent', parameters: { model: AGENT } };
  const advisor = {
    type: 'service:advisor',
    parameters: { model: AGENT, tools: [inner, { type: 'service:datetime' }] },
  };
  const reported = await ask(turns, CHAT, { tools: [subagent({ tools: [advisor] })] });
  assert.equal(resultsOf(reported.message)[0]?.['outcome'], 'Fine.');
  assert.deepEqual(seen, [['service_advisor'], ['service_datetime'], ['service_advisor']]);
});

test('ignores a depth in a header of the caller', async (t) => {
  const turns = await startToolTurns(
    t,
    both(handing, () => ({ text: 'One.' })),
  );
  const headers = { 'x-service-subagent-depth': '9', 'x-service-advisor-depth': '9' };
  const reported = await ask(turns, CHAT, { tools: [subagent()] }, headers);
  assert.equal(resultsOf(reported.message)[0]?.['status'], 'ok');
});

// @spec tool-33
suite('invalid fields', () => {
  const tool = (type: string, parameters: object): object => ({ type: `service:${type}`, parameters });
  const cases: readonly (readonly [name: string, tools: readonly object[], message: RegExp])[] = [
    [
      'two without a name',
      [tool('advisor', {}), tool('advisor', {})],
      /tools\[1\]\.parameters: .*only one may be the default/,
    ],
    [
      'one name twice',
      [tool('subagent', { name: 'a' }), tool('subagent', { name: ' a ' })],
      /tools\[1\]\.parameters\.name/,
    ],
    ['a name of other letters', [tool('advisor', { name: 'a.b' })], /tools\[0\]\.parameters\.name/],
    ['a name that is too long', [tool('advisor', { name: 'a'.repeat(65) })], /tools\[0\]\.parameters\.name/],
    [
      'itself inside',
      [tool('subagent', { tools: [tool('subagent', {})] })],
      /tools\[0\]\.parameters\.tools\[0\]\.type/,
    ],
    [
      'an advisor inside itself',
      [tool('advisor', { tools: [tool('advisor', {})] })],
      /tools\[0\]\.parameters\.tools\[0\]\.type/,
    ],
    [
      'a function inside',
      [tool('subagent', { tools: [{ type: 'function', function: { name: 'f' } }] })],
      /tools\[0\]\.parameters\.tools\[0\]/,
    ],
    [
      'a tool inside that there is not',
      [tool('subagent', { tools: [{ type: 'service:weather' }] })],
      /tools\[0\]\.parameters\.tools\[0\]\.type/,
    ],
    [
      'a wrong parameter inside',
      [tool('advisor', { tools: [tool('datetime', { timezone: 'Mars' })] })],
      /tools\[0\]\.parameters\.tools\[0\]\.parameters\.timezone/,
    ],
    [
      'a tool of the caller inside',
      [tool('subagent', { tools: [tool('bash', {})] })],
      /tools\[0\]\.parameters\.tools\[0\]\.type/,
    ],
    [
      'inherited functions',
      [tool('subagent', { inherit_functions: true })],
      /tools\[0\]\.parameters\.inherit_functions/,
    ],
    [
      'inherited names',
      [tool('subagent', { inherited_function_names: ['f'] })],
      /tools\[0\]\.parameters\.inherited_function_names/,
    ],
    [
      'more calls than there may be',
      [tool('subagent', { max_tool_calls: 26 })],
      /tools\[0\]\.parameters\.max_tool_calls/,
    ],
    ['a temperature beyond its range', [tool('advisor', { temperature: 2.1 })], /tools\[0\]\.parameters\.temperature/],
    [
      'an effort that is none',
      [tool('advisor', { reasoning: { effort: 'huge' } })],
      /tools\[0\]\.parameters\.reasoning\.effort/,
    ],
  ];
  for (const [name, tools, message] of cases)
    test(name, async (t) => {
      const turns = await startToolTurns(t, () => ({ text: 'Hi.' }));
      const answer = await turns.gateway.post('/chat/completions', {
        model: 'acme/chat',
        messages: [{ role: 'user', content: 'Go.' }],
        tools,
      });
      const text = await answer.text();
      assert.equal(answer.status, 400, text);
      assert.match(text, message);
    });
});
