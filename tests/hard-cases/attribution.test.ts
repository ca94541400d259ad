import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { ProviderAdapter } from '../../src/providers/contract.ts';
import { ADAPTERS } from '../../src/providers/index.ts';
import { createStickySessions } from '../../src/routing/sticky.ts';
import { shareAllUpstreams, UPSTREAMS, type UpstreamName } from '../support/upstreams/all-upstreams.ts';
import { cachePrompts, readBody } from '../support/upstreams/caching-upstream.ts';
import { messageOf } from '../support/next-turn.ts';
import { CLIENT_FORMATS } from '../support/prepare-request.ts';

const shared = shareAllUpstreams();

const line = (nonce: string): string =>
  `x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=${nonce};`;
const RULES = 'You are an agent in a terminal. '.repeat(40);
const MARK = { cache_control: { type: 'ephemeral' } };

/** A request of the agent, whose first line is another each time. */
function request(nonce: string, messages: readonly JsonObject[]): JsonObject {
  const system = [
    { type: 'text', text: line(nonce) },
    { type: 'text', text: RULES, ...MARK },
  ];
  return { max_tokens: 4_000, system, messages };
}

const user = (stated: string): JsonObject => ({ role: 'user', content: [{ type: 'text', text: stated, ...MARK }] });

suite('the line with which a terminal agent marks each request', () => {
  const abroad = (Object.keys(UPSTREAMS) as UpstreamName[]).filter((name) => name !== 'claude');

  test('is sent unchanged to its own vendor', async () => {
    const { ask } = shared();
    const { arrived, warnings } = await ask('messages', 'claude', request('0a1b2', [user('Hi.')]));
    assert.deepEqual(arrived.body['system'], request('0a1b2', [])['system']);
    assert.deepEqual(
      warnings.filter((warning) => warning.includes('system')),
      [],
    );
  });

  for (const name of abroad)
    test(`is removed for ${name}, whose cache then hits`, async () => {
      const { upstream, ask } = shared();
      upstream.script = cachePrompts(() => [{ type: 'text', text: 'Done.' }]);
      const first = await ask('messages', name, request('0a1b2', [user('Hi.')]));
      assert.ok(!first.arrived.text.includes('billing-header') && !first.arrived.text.includes('0a1b2'));
      assert.ok(first.arrived.text.includes(RULES), 'the rules themselves are there');
      assert.ok(first.warnings.includes('content-dropped system[0]'), first.warnings.join());
      const second = await ask('messages', name, request('ffff1', [user('Hi.')]));
      assert.equal(second.arrived.text, first.arrived.text);
      const messages = [user('Hi.'), messageOf('messages', first.reported), user('And now?')];
      const third = await ask('messages', name, request('36ee5', messages));
      const { prefix } = readBody(first.arrived);
      assert.equal(readBody(third.arrived).prefix.slice(0, prefix.length), prefix);
      const { usage } = second.reported;
      const read = Number(usage['cache_read_input_tokens'] ?? 0);
      assert.ok(read > RULES.length / 4, `${read} tokens were read from the cache`);
    });

  // @spec prompt-cache-9
  test('is removed for every provider but its vendor', () => {
    const readers = Object.values<ProviderAdapter>(ADAPTERS).filter((adapter) =>
      adapter.formats.some(
        ({ format }) => adapter.dialect({ format, model: 'claude-sonnet-4-6' }).readsAttribution === true,
      ),
    );
    assert.deepEqual(
      readers.map(({ id }) => id),
      ['anthropic'],
    );
  });

  test('leaves the rest of a text that it begins', async () => {
    const { ask } = shared();
    const requested = { max_tokens: 100, system: `${line('0a1b2')}\n\n${RULES}`, messages: [user('Hi.')] };
    const plain = await ask('messages', 'messages-plain', requested);
    assert.equal(plain.arrived.body['system'], RULES);
    const chat = await ask('messages', 'chat', requested);
    assert.deepEqual((chat.arrived.body['messages'] as unknown[])[0], { role: 'system', content: RULES });
  });

  // @spec prompt-cache-9
  test('counts no tokens', async () => {
    const { gateway } = shared();
    const count = async (body: JsonObject): Promise<unknown> => {
      const response = await gateway.post('/messages/count_tokens', { model: 'acme/chat', ...body });
      assert.equal(response.status, 200);
      return ((await response.json()) as JsonObject)['input_tokens'];
    };
    const { system: _marked, ...rest } = request('0a1b2', [user('Hi.')]);
    const bare = await count({ ...rest, system: [{ type: 'text', text: RULES, ...MARK }] });
    assert.equal(await count(request('0a1b2', [user('Hi.')])), bare);
  });

  // @spec prompt-cache-9
  test('does not break session affinity', () => {
    const sessions = createStickySessions({ clock: systemClock });
    const keyOf = (nonce: string, stated: string): string | undefined => {
      const body = { model: 'acme/one', ...request(nonce, [user(stated)]) };
      const headers = { serviceMetadata: false, betas: [] };
      const decoded = CLIENT_FORMATS.messages.decodeRequest(body, JSON.stringify(body), headers);
      return sessions.sessionOf(decoded, 'default')?.key();
    };
    assert.equal(keyOf('0a1b2', 'Hi.'), keyOf('ffff1', 'Hi.'));
    assert.notEqual(keyOf('0a1b2', 'Hi.'), keyOf('0a1b2', 'Ho.'));
  });

  test('is ordinary text from a chat caller', async () => {
    const { ask } = shared();
    const messages = [{ role: 'system', content: line('0a1b2') }, user('Hi.')];
    const { arrived } = await ask('chat', 'chat', { messages });
    assert.deepEqual((arrived.body['messages'] as unknown[])[0], messages[0]);
  });
});
