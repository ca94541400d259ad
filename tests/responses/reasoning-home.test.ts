import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { ENGINES } from '../support/store/engines.ts';
import { json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { emit, speak } from '../support/upstreams/speak.ts';
import { GO_ON, SEAL, SEALED, UNREADABLE, USER } from '../support/upstreams/sealed-reasoning.ts';

interface Opened {
  readonly gateway: RunningGateway;
  readonly first: ScriptedUpstream;
  readonly second: ScriptedUpstream;
  readonly ask: (input: readonly Json[], members?: JsonObject) => Promise<JsonObject>;
}

/**
 * One model at two accounts of one vendor, each of which encrypts for itself, and a model of another family.
 * @param sections further ones of the configuration @param env its environment
 */
async function open(
  t: { after(close: () => Promise<void>): void },
  sections = '',
  env: Readonly<Record<string, string>> = {},
): Promise<Opened> {
  const first = await startUpstream(emit('First.'));
  const second = await startUpstream(emit('Second.'));
  const gateway = await startGateway({
    env,
    yaml: `
${sections}
providers:
  one: { adapter: openai, base_url: "${first.baseUrl}", api_key: upstream-secret }
  two: { adapter: openai, base_url: "${second.baseUrl}", api_key: upstream-secret }
  claude: { adapter: anthropic, base_url: "${second.baseUrl}", api_key: upstream-secret }
  google: { adapter: google, base_url: "${second.baseUrl}", api_key: upstream-secret }
models:
  acme/thinker:
    endpoints:
      - { provider: one, model: gpt-5.4-pro, price: { prompt: 1, completion: 2 } }
      - { provider: two, model: gpt-5.4-pro, price: { prompt: 1, completion: 2 } }
  acme/claude:
    endpoints: [{ provider: claude, model: claude-sonnet-4-5, price: { prompt: 1, completion: 2 } }]
  acme/gemini:
    endpoints: [{ provider: google, model: gemini-3-pro, price: { prompt: 1, completion: 2 } }]
`,
  });
  t.after(async () => {
    await gateway.close();
    await first.close();
    await second.close();
  });
  return {
    gateway,
    first,
    second,
    async ask(input, members = {}) {
      const response = await gateway.post('/responses', { model: 'acme/thinker', store: false, input, ...members });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return JSON.parse(text) as JsonObject;
    },
  };
}

const STORED = 'responses: { store: database }';

const outputOf = ({ output }: JsonObject): readonly Json[] => listOf(output);

function sealsIn({ arrived }: ScriptedUpstream): readonly (Json | undefined)[] {
  const { input } = (arrived.at(-1)?.body ?? {}) as JsonObject;
  return listOf(input).flatMap((item) => objectOf(item)['encrypted_content'] ?? []);
}

suite('encrypted reasoning of callers of the responses format', () => {
  // @spec responses-pains-1
  test('returns to the account that wrote it, whatever the order', async (t) => {
    const { first, second, ask } = await open(t);
    second.script = SEALED;
    const thought = await ask([USER], { provider: { order: ['two'] } });
    assert.equal(objectOf(outputOf(thought)[0])['encrypted_content'], SEAL);
    first.arrived.length = 0;
    await ask([USER, ...outputOf(thought), GO_ON]);
    assert.deepEqual(sealsIn(second), [SEAL]);
    assert.equal(first.arrived.length, 0);
  });

  // @spec responses-pains-1
  test('is left out when that account is down, and the conversation goes on', async (t) => {
    const { first, second, ask } = await open(t);
    second.script = SEALED;
    const thought = await ask([USER], { provider: { order: ['two'] } });
    second.script = json(500, { error: { message: 'down' } });
    const next = await ask([USER, ...outputOf(thought), GO_ON]);
    assert.equal(next['output_text'], 'First.');
    assert.deepEqual(sealsIn(first), []);
    assert.ok(first.arrived.at(-1)?.text.includes('Thought.'));
  });

  for (const engine of ENGINES.filter(({ isPostgres }) => isPostgres))
    // @spec responses-132
    test('returns to its account at a gateway that has only its stored response', async (t) => {
      const place = await engine.makePlace();
      t.after(() => place.remove());
      const env = { DATABASE_URL: place.url ?? '', GATEWAY_SECRET: 'a secret of this test' };
      const [made, continued] = [await open(t, STORED, env), await open(t, STORED, env)];
      made.second.script = SEALED;
      const { id = null } = await made.ask([USER], { provider: { only: ['two'] }, store: true });
      continued.second.script = emit('Second.');
      const next = await continued.ask([GO_ON], { previous_response_id: id });
      assert.equal(next['output_text'], 'Second.');
      assert.deepEqual(sealsIn(continued.second), [SEAL]);
      assert.equal(continued.first.arrived.length, 0);
    });

  // @spec responses-pains-2
  test('of one vendor never reaches another, on the way through models of three vendors and back', async (t) => {
    const { first, second, ask } = await open(t);
    const seals = { messages: 'c2lnbmVkIGJ5IG9uZQ==', gemini: 'c2lnbmVkIGJ5IGFub3RoZXI=' };
    first.script = SEALED;
    const only = { provider: { only: ['one'] } };
    let input: readonly Json[] = [USER];
    const take = async (members: JsonObject): Promise<string> => {
      input = [...input, ...outputOf(await ask(input, members)), GO_ON];
      return ((members['model'] === undefined ? first : second).arrived.at(-1) ?? assert.fail()).text;
    };
    const think = (seal: string): void => {
      const parts = [
        { type: 'thought', text: 'I ponder.', seal },
        { type: 'text', text: 'Pondered.' },
      ] as const;
      second.script = speak({ parts });
    };
    const assertHolds = (text: string, ...own: readonly string[]): void => {
      for (const seal of [SEAL, ...Object.values(seals)]) assert.equal(text.includes(seal), own.includes(seal), seal);
    };
    assertHolds(await take(only));
    think(seals.messages);
    assertHolds(await take({ model: 'acme/claude' }));
    think(seals.gemini);
    assertHolds(await take({ model: 'acme/gemini' }));
    first.script = emit('First.');
    assertHolds(await take(only), SEAL);
    assertHolds(await take({ model: 'acme/claude' }), seals.messages);
    assertHolds(await take({ model: 'acme/gemini' }), seals.gemini);
  });

  // @spec responses-pains-8
  test('is tried where its origin is not known, and once more without it where it cannot be read', async (t) => {
    const { gateway, first, ask } = await open(t);
    first.script = (arrived, response, request) =>
      (arrived.text.includes(SEAL) ? UNREADABLE : emit('First.'))(arrived, response, request);
    const lost = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: SEAL };
    const said = { type: 'message', role: 'assistant', content: 'Thought.' };
    const response = await ask([USER, lost, said, GO_ON], { provider: { only: ['one'] } });
    assert.equal(response['output_text'], 'First.');
    assert.equal(first.arrived.length, 2);
    assert.deepEqual(sealsIn(first), []);
    const { data } = (await (await fetch(`${gateway.baseUrl}/models/acme/thinker/endpoints`)).json()) as {
      data: { endpoints: { uptime_last_30m?: number | null }[] };
    };
    for (const { uptime_last_30m: uptime } of data.endpoints)
      assert.ok(uptime === null || uptime === undefined || uptime === 100);
  });

  for (const [model, message] of [
    ['acme/claude', 'messages.1.content.0: Invalid `signature` in `thinking` block'],
    ['acme/gemini', 'Corrupted thought signature.'],
  ] as const)
    // @spec reasoning-24
    test(`is left out once where the vendor refuses its own signature: ${model}`, async (t) => {
      const { second, ask } = await open(t);
      second.script = speak({
        parts: [
          { type: 'thought', text: 'I ponder.', seal: 'U2lnbmVk' },
          { type: 'text', text: 'Pondered.' },
        ],
      });
      const thought = await ask([USER], { model, reasoning: { effort: 'low' } });
      second.script = (arrived, response, request) =>
        (arrived.text.includes('U2lnbmVk') ? json(400, { error: { message } }) : emit('Second.'))(
          arrived,
          response,
          request,
        );
      second.arrived.length = 0;
      const next = await ask([USER, ...outputOf(thought), GO_ON], { model, reasoning: { effort: 'low' } });
      assert.equal(next['output_text'], 'Second.');
      assert.equal(second.arrived.length, 2);
      assert.ok(second.arrived[1]?.text.includes('Pondered.'));
    });

  for (const model of ['acme/claude', 'acme/gemini'])
    // @spec responses-pains-3
    test(`comes back beside a call byte for byte, when a client keeps only summary and seal: ${model}`, async (t) => {
      const { second, ask } = await open(t);
      second.script = speak({
        parts: [
          { type: 'thought', text: 'I must look.', seal: 'U2lnbmVkIGJ5IGl0cyB2ZW5kb3I=' },
          { type: 'call', id: 'call_a', name: 'look', input: '{"at":1}', signature: 'T2YgdGhlIGNhbGw=' },
        ],
      });
      const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: { at: {} } } }];
      const called = await ask([USER], { model, tools });
      // As Codex keeps items: no ids, no readable content of reasoning.
      const kept = outputOf(called).map((item): JsonObject => {
        const { id: _id, content: _content, status: _status, ...rest } = objectOf(item);
        return rest;
      });
      assert.ok(kept.some(({ type }) => type === 'function_call'));
      second.script = emit('Seen.');
      const seen = { type: 'function_call_output', call_id: callIdOf(kept), output: 'a boat' };
      await ask([USER, ...kept, seen], { model, tools });
      const sent = second.arrived.at(-1)?.text ?? '';
      assert.ok(sent.includes('U2lnbmVkIGJ5IGl0cyB2ZW5kb3I='), sent);
      assert.ok(sent.includes(model === 'acme/claude' ? 'I must look.' : 'T2YgdGhlIGNhbGw='), sent);
    });
});

function callIdOf(items: readonly JsonObject[]): Json {
  return items.find(({ type }) => type === 'function_call')?.['call_id'] ?? null;
}
