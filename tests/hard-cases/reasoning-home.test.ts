import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { encodeReasoning } from '../../src/wire/messages/response/content-out.ts';
import { CALLERS, PATHS } from '../support/upstreams/all-upstreams.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { messageOf } from '../support/next-turn.ts';
import { emit } from '../support/upstreams/speak.ts';
import { listOf, objectOf, readReported, type Reported } from '../support/reported.ts';
import { json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import type { ChatOrMessages } from '../support/chat-or-messages.ts';
import { GO_ON, SEAL, SEALED, UNREADABLE, USER } from '../support/upstreams/sealed-reasoning.ts';

interface TwoOrganizations {
  readonly gateway: RunningGateway;
  readonly first: ScriptedUpstream;
  readonly second: ScriptedUpstream;
  readonly ask: (caller: ChatOrMessages, body: JsonObject) => Promise<Reported>;
}

/** One model at two accounts of one vendor, each of which encrypts for itself. */
async function startTwoOrganizations(t: { after(close: () => Promise<void>): void }): Promise<TwoOrganizations> {
  const first = await startUpstream(emit('First.'));
  const second = await startUpstream(emit('Second.'));
  const entry = (url: string): string => `{ adapter: openai, base_url: "${url}", api_key: upstream-secret }`;
  const gateway = await startGateway({
    yaml: `
providers:
  one: ${entry(first.baseUrl)}
  two: ${entry(second.baseUrl)}
models:
  acme/thinker:
    endpoints:
      - { provider: one, model: gpt-5.4-pro, price: { prompt: 1, completion: 2 } }
      - { provider: two, model: gpt-5.4-pro, price: { prompt: 1, completion: 2 } }
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
    async ask(caller, body) {
      const stream = body['stream'] === true;
      const response = await gateway.post(PATHS[caller], { model: 'acme/thinker', max_tokens: 8_000, ...body });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      const contentType = response.headers.get('content-type') ?? '';
      return readReported({ status: 200, contentType, text, record: undefined }, { format: caller, stream });
    },
  };
}

function sealsIn({ arrived }: ScriptedUpstream): readonly (Json | undefined)[] {
  const { input } = (arrived.at(-1)?.body ?? {}) as JsonObject;
  return listOf(input).flatMap((item) => objectOf(item)['encrypted_content'] ?? []);
}

suite('encrypted reasoning', () => {
  for (const caller of CALLERS)
    for (const stream of [false, true])
      // @spec route-29
      test(`returns to the endpoint that wrote it, whatever the order: ${caller} caller, stream: ${stream}`, async (t) => {
        const { first, second, ask } = await startTwoOrganizations(t);
        second.script = SEALED;
        const reported = await ask(caller, { stream, messages: [USER], provider: { order: ['two'] } });
        assert.equal((await ask(caller, { stream, messages: [USER] })).text, 'First.');
        const messages = [USER, messageOf(caller, reported), GO_ON];
        first.arrived.length = 0;
        assert.equal((await ask(caller, { stream, messages })).text, 'Thought.');
        assert.deepEqual(sealsIn(second), [SEAL]);
        assert.equal(first.arrived.length, 0);
      });

  for (const caller of CALLERS) {
    test(`is left out when its endpoint fails or is excluded, and the conversation continues: ${caller} caller`, async (t) => {
      const { first, second, ask } = await startTwoOrganizations(t);
      second.script = SEALED;
      const reported = await ask(caller, { messages: [USER], provider: { order: ['two'] } });
      const messages = [USER, messageOf(caller, reported), GO_ON];
      second.script = json(500, { error: { message: 'down' } });
      assert.equal((await ask(caller, { messages })).text, 'First.');
      assert.deepEqual(sealsIn(first), []);
      assert.ok(first.arrived.at(-1)?.text.includes('Thought.'));
      second.arrived.length = 0;
      assert.equal((await ask(caller, { messages, provider: { order: ['one'] } })).text, 'First.');
      assert.equal(second.arrived.length, 0);
      assert.deepEqual(sealsIn(first), []);
    });

    // @spec reasoning-23
    test(`is tried without a known origin, and left out for an endpoint that cannot read it: ${caller} caller`, async (t) => {
      const { gateway, first } = await startTwoOrganizations(t);
      first.script = (arrived, response, request) =>
        (arrived.text.includes(SEAL) ? UNREADABLE : emit('First.'))(arrived, response, request);
      const lost =
        caller === 'chat'
          ? {
              role: 'assistant',
              content: 'Thought.',
              reasoning_details: [
                { type: 'reasoning.encrypted', data: SEAL, id: 'rs_1', format: 'openai-responses-v1', index: 0 },
              ],
            }
          : {
              role: 'assistant',
              content: [
                encodeReasoning({
                  type: 'reasoning',
                  form: 'encrypted',
                  text: SEAL,
                  family: 'openai-responses-v1',
                  id: 'rs_1',
                }),
                { type: 'text', text: 'Thought.' },
              ],
            };
      const requested = { messages: [USER, lost, GO_ON], model: 'acme/thinker', max_tokens: 8_000 };
      const response = await gateway.post(PATHS[caller], requested);
      assert.equal(response.status, 200, await response.text());
      assert.equal(first.arrived.length, 2);
      assert.deepEqual(sealsIn(first), []);
      const record = await gateway.app.generations.find(response.headers.get('x-generation-id') ?? '');
      assert.deepEqual(
        record?.warnings.flatMap(({ message }) => (message.includes('could not read') ? [message] : [])).length,
        1,
      );
      // A refusal for another reason is reported.
      first.script = UNREADABLE;
      assert.equal((await gateway.post(PATHS[caller], { ...requested, messages: [USER] })).status, 400);
    });
  }
});
