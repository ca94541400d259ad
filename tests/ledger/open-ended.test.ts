import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { askAtOnce, OPEN_ENDED_MODEL, type OpenEndedGateway } from '../support/cluster/open-ended.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

suite('responses without max_tokens on a key with a limit', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  let tested: OpenEndedGateway;
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('ok')));
    gateway = await startGateway({
      yaml: `
providers: { alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a } }
models: { acme/one: { endpoints: [{ provider: alpha, model: one, price: ${OPEN_ENDED_MODEL} }] } }
`,
    });
    tested = {
      upstream,
      ask: (key, body) => gateway.post('/chat/completions', body, { authorization: `Bearer ${key}` }),
      async createKey(limit) {
        const response = await fetch(`${gateway.baseUrl}/keys`, {
          method: 'POST',
          headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'limited', limit }),
        });
        assert.equal(response.status, 201);
        return ((await response.json()) as { key: string }).key;
      },
      async usedBy(key) {
        const response = await fetch(`${gateway.baseUrl}/key`, { headers: { authorization: `Bearer ${key}` } });
        return ((await response.json()) as { data: { usage: number } }).data.usage;
      },
    };
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  for (const stream of [true, false])
    for (const callers of [1, 8, 200])
      for (const rooms of [1, 5, 8, 200])
        test(`start as many ${stream ? 'streams' : 'requests'} of ${callers} callers as fit a key with room for ${rooms}`, () =>
          askAtOnce(tested, { callers, rooms, stream }));
});
