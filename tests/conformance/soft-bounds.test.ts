import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatStream, stream, type Script } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'hi' }];
const SLOW_MS = 3_500;
const BOUND_S = 2;
/** As many answers say something of an endpoint's speed. */
const SAMPLES = 6;

const quick = stream(chatStream('one two three four five six seven eight'));
const slow: Script = (...call) => void setTimeout(() => void quick(...call), SLOW_MS);

interface Answer {
  readonly provider: string;
  readonly service_metadata: {
    readonly pipeline?: readonly {
      readonly name: string;
      readonly data: { readonly demoted?: readonly { readonly provider: string; readonly reason: string }[] };
    }[];
  };
}

test('tries an endpoint that was measured as too slow last for callers that prefer speed, and names it', async (t) => {
  const { gateway } = await startTwoProviders(t, { first: slow, second: quick });
  const ask = async (provider: object): Promise<Answer> => {
    const body = { model: 'acme/both', messages, provider };
    const response = await gateway.post('/chat/completions', body, { 'x-service-metadata': 'enabled' });
    return (await response.json()) as Answer;
  };
  const measured = ['first', 'second'].flatMap((name) =>
    Array.from({ length: SAMPLES }, () =>
      gateway.post('/chat/completions', { model: `acme/${name}`, messages, stream: true }),
    ),
  );
  await Promise.all(measured.map(async (response) => (await response).text()));
  assert.equal((await ask({})).provider, 'First');
  for (const bound of [BOUND_S, { p90: BOUND_S }]) {
    const { provider, service_metadata: metadata } = await ask({ preferred_max_latency: bound });
    assert.equal(provider, 'Second');
    const stage = metadata.pipeline?.find(({ name }) => name === 'provider-preferences');
    assert.deepEqual(
      stage?.data.demoted?.map((one) => [one.provider, one.reason]),
      [['First', 'preferred_max_latency']],
    );
  }
  assert.equal((await ask({ sort: 'latency' })).provider, 'Second');
});
