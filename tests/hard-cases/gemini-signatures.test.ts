import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { CALLERS, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { messageOf, resultsFor, strippedMessageOf, toolsOf } from '../support/next-turn.ts';
import { speak } from '../support/upstreams/speak.ts';
import type { SpokenPart } from '../support/upstreams/spoken.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { json, type Script } from '../support/upstream.ts';

const shared = shareAllUpstreams();

const USER = { role: 'user', content: 'Look.' };
const STOPGAP = 'skip_thought_signature_validator';

/** What a model's steps of calls are signed with, by the end of the id of their first call. */
const SIGNATURES: Readonly<Record<string, string>> = { a: 'Zmlyc3Qgc3RlcA==', c: 'c2Vjb25kIHN0ZXA=' };

/** Three answers: two steps of calls, and words. @param run ids begin with it, so that no test remembers another's */
function stepsOfModel(run: string): readonly (readonly SpokenPart[])[] {
  return [
    [
      { type: 'thought', text: 'I look and listen.' },
      { type: 'call', id: `${run}_a`, name: 'look', input: '{"at":"sky"}', signature: SIGNATURES['a'] ?? '' },
      { type: 'call', id: `${run}_b`, name: 'hear', input: '{"at":"sea"}' },
    ],
    [{ type: 'call', id: `${run}_c`, name: 'look', input: '{"at":"sea"}', signature: SIGNATURES['c'] ?? '' }],
    [{ type: 'text', text: 'The sky is grey.' }],
  ];
}

interface WireCall {
  readonly id: unknown;
  readonly signature: unknown;
}

/** Steps of calls in a body: those of one content each. */
function stepsOf(body: JsonObject): readonly (readonly WireCall[])[] {
  const contents = listOf(body['contents']).map((content) => listOf(objectOf(content)['parts']));
  const steps = contents.map((parts) =>
    parts.flatMap((part) => {
      const { functionCall, thoughtSignature: signature } = objectOf(part);
      return functionCall === undefined ? [] : [{ id: objectOf(functionCall)['id'], signature }];
    }),
  );
  return steps.filter((step) => step.length > 0);
}

/** Answers step by step, and refuses like a model of the third generation: each step's first call wants its signature. */
const strict =
  (run: string): Script =>
  (arrived, response, request) => {
    const steps = stepsOf(arrived.body as JsonObject);
    for (const [at, step] of steps.entries())
      for (const [place, { id, signature }] of step.entries()) {
        const wanted = SIGNATURES[String(id).slice(-1)];
        const isRight = place > 0 ? signature === undefined : signature === wanted || signature === STOPGAP;
        if (isRight) continue;
        const message = `Function call is missing a thought_signature in functionCall parts (step ${at}, call ${place}).`;
        void json(400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } })(arrived, response, request);
        return;
      }
    void speak({ parts: stepsOfModel(run)[steps.length] ?? [] })(arrived, response, request);
  };

suite('the thought signatures of Gemini', () => {
  for (const caller of CALLERS)
    for (const stream of [false, true])
      for (const keep of [messageOf, strippedMessageOf])
        // @spec reasoning-20
        test(`survive two steps with a ${caller} client that ${keep === messageOf ? 'keeps' : 'strips'} them, stream: ${stream}`, async () => {
          const { upstream, ask } = shared();
          const run = `call_${caller}_${stream}_${keep.name}`;
          upstream.script = strict(run);
          const requested = { max_tokens: 8_000, stream, tools: toolsOf(caller, 'look', 'hear') };
          let messages: readonly JsonObject[] = [USER];
          for (const calls of [2, 1]) {
            const { reported } = await ask(caller, 'gemini', { ...requested, messages });
            assert.equal(reported.calls.length, calls);
            messages = [...messages, keep(caller, reported), ...resultsFor(caller, reported)];
          }
          const { reported, arrived } = await ask(caller, 'gemini', { ...requested, messages });
          assert.equal(reported.text, 'The sky is grey.');
          assert.deepEqual(stepsOf(arrived.body as JsonObject), [
            [
              { id: `${run}_a`, signature: SIGNATURES['a'] },
              { id: `${run}_b`, signature: undefined },
            ],
            [{ id: `${run}_c`, signature: SIGNATURES['c'] }],
          ]);
        });

  test('are remembered for reasoning that the caller did not want to see', async () => {
    const { upstream, ask } = shared();
    upstream.script = strict('call_hidden');
    const requested = { reasoning: { exclude: true }, tools: toolsOf('chat', 'look', 'hear') };
    const { reported } = await ask('chat', 'gemini', { ...requested, messages: [USER] });
    assert.deepEqual(reported.seals, []);
    const messages = [USER, strippedMessageOf('chat', reported), ...resultsFor('chat', reported)];
    const { arrived } = await ask('chat', 'gemini', { ...requested, messages });
    assert.equal(stepsOf(arrived.body as JsonObject)[0]?.[0]?.signature, SIGNATURES['a']);
  });

  for (const caller of CALLERS)
    // @spec reasoning-21
    test(`are not needed for another model's history: ${caller} caller`, async () => {
      const { upstream, ask } = shared();
      upstream.script = strict(`call_${caller}`);
      const reported = {
        ...(await ask(caller, 'gemini', { max_tokens: 100, messages: [USER] })).reported,
        calls: [{ id: 'toolu_1', name: 'look', arguments: '{}' }],
        message: { content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
        text: '',
      };
      const messages = [USER, strippedMessageOf(caller, reported), ...resultsFor(caller, reported)];
      const requested = { max_tokens: 8_000, tools: toolsOf(caller, 'look'), messages };
      const { arrived, warnings } = await ask(caller, 'gemini', requested);
      assert.deepEqual(stepsOf(arrived.body as JsonObject), [[{ id: 'toolu_1', signature: STOPGAP }]]);
      assert.ok(
        warnings.some((warning) => warning.startsWith('field-changed messages[1]')),
        warnings.join(),
      );
    });
});
