import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { canCluster, startCluster, type Cluster } from '../support/cluster/cluster.ts';
import { API_KEY } from '../support/gateway.ts';
import { askAtOnce, OPEN_ENDED, OPEN_ENDED_MODEL, type OpenEndedGateway } from '../support/cluster/open-ended.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const PROCESSES = 3;
/** Beside these `npm run test:scale-out` has keys with room for one, five and all. */
const ROOMS = process.env['SCALE_OUT_FORM'] === 'full' ? [1, 5, 8, 200] : [8];

suite('responses without max_tokens over three processes', { skip: !canCluster }, () => {
  let upstream: ScriptedUpstream;
  let cluster: Cluster;
  let tested: OpenEndedGateway;
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('ok')));
    cluster = await startCluster(`
providers: { alpha: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: a } }
models: { acme/one: { endpoints: [{ provider: alpha, model: one, price: ${OPEN_ENDED_MODEL} }] } }
`);
    // A connection each: every process gets its share.
    const ask = (key: string, body: object): Promise<Response> =>
      fetch(`${cluster.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify(body),
      });
    // What a process does for the first time takes it long.
    for (let round = 0; round < 2 * PROCESSES; round++) assert.equal((await ask(API_KEY, OPEN_ENDED)).status, 200);
    tested = {
      upstream,
      ask,
      async createKey(limit) {
        const { key } = await cluster.manage('POST', '/keys', { name: 'limited', limit });
        return String(key);
      },
      async usedBy(key) {
        const response = await fetch(`${cluster.baseUrl}/key`, { headers: { authorization: `Bearer ${key}` } });
        return ((await response.json()) as { data: { usage: number } }).data.usage;
      },
    };
  });
  after(async () => {
    await cluster.close();
    await upstream.close();
  });

  for (const stream of [true, false])
    for (const callers of [1, 8, 200])
      for (const rooms of ROOMS)
        test(`start as many ${stream ? 'streams' : 'requests'} of ${callers} callers as fit a key with room for ${rooms}`, () =>
          askAtOnce(tested, { callers, rooms, stream }));
});
