import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { bring } from '../support/byok.ts';
import { captureCli } from '../support/cli/capture-cli.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatAnswer, json } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'hi there' }];

interface Explanation {
  readonly format: string;
  readonly ordering: string;
  readonly candidates: readonly {
    readonly provider: string;
    readonly position: number;
    readonly health: string;
    readonly price: { readonly prompt: number; readonly completion: number };
    readonly estimated_cost: { readonly prompt: number; readonly max?: number };
  }[];
  readonly excluded: readonly { readonly provider: string; readonly reason: string }[];
  readonly sticky: { readonly session: string; readonly held: boolean; readonly saves_at_most: number };
  readonly error?: { readonly code: number };
  readonly service_metadata: {
    readonly strategy: string;
    readonly summary: string;
    readonly pipeline?: readonly object[];
  };
}

suite('POST /route/explain', () => {
  // @spec error-24, route-40
  test('lists candidates in order with their cost and the reasons of exclusions, and calls no provider', async (t) => {
    const { gateway, first, second } = await startTwoProviders(t, { first: json(200, chatAnswer('x')) });
    const body = { model: 'acme/both', max_tokens: 100, messages, provider: { ignore: ['second'] } };
    const response = await gateway.post('/route/explain', body);
    assert.equal(response.status, 200);
    const explanation = (await response.json()) as Explanation;
    assert.equal(explanation.format, 'chat');
    const [only, ...more] = explanation.candidates;
    assert.deepEqual(more, []);
    assert.deepEqual([only?.provider, only?.position, only?.health], ['First', 1, 'normal']);
    assert.deepEqual(only?.price, { prompt: 1, completion: 2, cache_read: 0.1, cache_write: 1.25 });
    assert.ok(only !== undefined && only.estimated_cost.prompt > 0);
    assert.equal(only.estimated_cost.max?.toFixed(9), (only.estimated_cost.prompt + 200e-6).toFixed(9));
    assert.deepEqual(
      explanation.excluded.map(({ provider, reason }) => [provider, reason]),
      [['Second', 'allowed_providers']],
    );
    assert.deepEqual([first.arrived.length, second.arrived.length], [0, 0]);
  });

  // @spec route-41
  test('equals the plan of the request: strategy, summary and stages are those of its metadata', async (t) => {
    const { gateway } = await startTwoProviders(t, { first: json(200, chatAnswer('x')) });
    const body = { model: 'acme/both', messages, provider: { sort: 'price', ignore: ['second'] } };
    const explained = (await (await gateway.post('/route/explain', body)).json()) as Explanation;
    const answered = (await (
      await gateway.post('/chat/completions', body, { 'x-service-metadata': 'enabled' })
    ).json()) as Explanation;
    assert.equal(explained.service_metadata.strategy, answered.service_metadata.strategy);
    assert.deepEqual(explained.service_metadata.pipeline, answered.service_metadata.pipeline);
    assert.equal(`${explained.service_metadata.summary}, selected=First`, answered.service_metadata.summary);
  });

  // @spec route-40
  test('takes any key, and a messages body', async (t) => {
    const { gateway } = await startTwoProviders(t, { first: json(200, {}) });
    const body = {
      model: 'acme/both',
      max_tokens: 5,
      messages,
      system: 'be brief',
      fallbacks: [{ model: 'acme/first' }],
    };
    const headers = { authorization: `Bearer ${MANAGEMENT_KEY}` };
    const response = await gateway.post('/route/explain', body, headers);
    assert.equal(response.status, 200);
    const explanation = (await response.json()) as Explanation;
    assert.equal(explanation.format, 'messages');
    assert.equal(explanation.candidates.length, 3);
    assert.equal((await gateway.post('/route/explain', body, { authorization: 'Bearer nobody' })).status, 401);
  });

  test('reports what would be refused, and rejects an invalid request', async (t) => {
    const { gateway } = await startTwoProviders(t, { first: json(200, {}) });
    const none = await gateway.post('/route/explain', { model: 'acme/both', messages, provider: { zdr: true } });
    const { candidates, error, excluded } = (await none.json()) as Explanation;
    assert.deepEqual([none.status, candidates.length, error?.code], [200, 0, 404]);
    assert.ok(excluded.every(({ reason }) => reason === 'data_policy:zdr'));
    assert.equal((await gateway.post('/route/explain', { model: 'no/such', messages })).status, 404);
    assert.equal((await gateway.post('/route/explain', { model: 'acme/both' })).status, 400);
  });

  test('reports the savings of a session, and whether it is pinned', async (t) => {
    const { gateway } = await startTwoProviders(t, { first: json(200, chatAnswer('x')) });
    const body = { model: 'acme/both', messages, session_id: 's-1' };
    const explain = async (): Promise<Explanation> =>
      (await (await gateway.post('/route/explain', body)).json()) as Explanation;
    const before = (await explain()).sticky;
    assert.deepEqual([before.session, before.held], ['named', false]);
    assert.ok(before.saves_at_most > 0);
    await (await gateway.post('/chat/completions', body)).text();
    assert.equal((await explain()).sticky.held, true);
  });

  test('prints line by line on the command line, and exits with 1 when no candidate would serve', async (t) => {
    const { gateway } = await startTwoProviders(t, { first: json(200, {}) });
    const flags = ['--url', gateway.url, '--key', API_KEY];
    const good = await captureCli(['explain', '--model', 'acme/both', ...flags]);
    assert.equal(good.code, 0, good.stderr);
    assert.match(
      good.stdout,
      /1\. First {2}acme\/both {2}\$1\/\$2 per million tokens, \$0\.0+\d+ for the prompt\n {2}2\. Second/,
    );
    assert.match(good.stdout, /the session \(by content\) is not pinned yet; its cache saves at most \$0\.0+\d+\n/);
    await bring(gateway, 'second', 'sk-own-0123456789abcdefghijklmnop');
    const own = await captureCli(['explain', '--model', 'acme/both', ...flags]);
    assert.match(own.stdout, /^ {2}1\. Second .*\(own credential sk-\.\.\.mnop\)$/m);
    const bad = await captureCli(['explain', '--model', 'acme/nope', ...flags]);
    assert.equal(bad.code, 1);
    assert.match(bad.stderr, /does not exist/);
  });
});
