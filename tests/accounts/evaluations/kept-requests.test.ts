import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { captureCli } from '../../support/cli/capture-cli.ts';
import { MANAGEMENT_KEY } from '../../support/gateway.ts';
import { setUp, type Setting } from './support.ts';

const DAY_MS = 86_400_000;
const RANGE = {
  start: new Date(Date.now() - DAY_MS).toISOString(),
  end: new Date(Date.now() + DAY_MS).toISOString(),
};

async function open(t: TestContext): Promise<Setting> {
  const setting = await setUp(t);
  const kept = await setting.call('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: true });
  assert.equal(kept.status, 200, kept.text);
  return setting;
}

/** Asks, and waits until the request is kept. */
async function ask({ gateway, call }: Setting, body: object): Promise<string> {
  const response = await gateway.post('/chat/completions', { model: 'acme/good', ...body });
  assert.equal(response.status, 200, await response.clone().text());
  const id = response.headers.get('x-generation-id') ?? '';
  await response.text();
  for (let tries = 0; tries < 400; tries++) {
    if ((await call('GET', `/generation/content?id=${id}`)).status === 200) return id;
    await wait(10);
  }
  throw new Error('The content was not kept.');
}

// @spec evaluation-19
test('makes a dataset of kept requests, which a run sends again', async (t) => {
  const setting = await open(t);
  const { call, run, until, upstream } = setting;
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Two plus two?' },
  ];
  setting.say = () => 'Four.';
  const first = await ask(setting, { messages, session_id: 'one' });
  await ask(setting, { model: 'acme/bad', messages: [{ role: 'user', content: 'Of another model.' }] });
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  await ask(setting, { messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, picture] }] }).catch(
    () => undefined,
  );
  const made = await call('POST', '/benchmarks/datasets/from-requests', {
    name: 'kept',
    ...RANGE,
    models: ['acme/good'],
    expected: 'response',
  });
  assert.equal(made.status, 201, made.text);
  assert.partialDeepStrictEqual(made.body, { data: { name: 'kept', items: 1 } });
  assert.ok(Number(made.body['skipped']) >= 1, 'what has pictures cannot be sent again');
  const before = upstream.arrived.length;
  const data = made.body['data'];
  const runId = await run(String(Object(data)['id']), {
    models: ['acme/bad'],
    judge: { model: 'acme/judge', rubric: 'Is it right?', scale: 5 },
  });
  await until(runId, 'done');
  const sent = JSON.stringify(upstream.arrived[before]?.body);
  assert.match(sent, /Be brief\..*Two plus two\?/);
  const items = await call('GET', `/benchmarks/runs/${runId}/items`);
  assert.match(items.text, new RegExp(`"item_id":"${first}"`));
  const again = await call('POST', '/benchmarks/datasets/from-requests', {
    name: 'kept',
    ...RANGE,
    models: ['acme/good'],
    expected: 'response',
  });
  assert.equal(again.status, 409, again.text);
});

// @spec evaluation-19
test('is a command, too', async (t) => {
  const setting = await open(t);
  await ask(setting, { messages: [{ role: 'user', content: 'Hi.' }] });
  const collect = (...args: readonly string[]) =>
    captureCli(['eval', 'collect', ...args, '--url', setting.gateway.url, '--key', MANAGEMENT_KEY]);
  const { code, stdout, stderr } = await collect('kept', '--days', '1', '--models', 'acme/good', '--expected');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^The dataset [0-9a-f-]{36} has 1 requests; 0 were left out\.\n$/);
  for (const days of ['some', '0', '-1', '1e300'])
    assert.equal((await collect('kept', `--days=${days}`)).code, 2, days);
});

// @spec evaluation-19
test('is 400 where the range holds nothing that can be sent again, and is for management keys', async (t) => {
  const setting = await open(t);
  const { call, gateway } = setting;
  const body = { name: 'kept', ...RANGE };
  const empty = await call('POST', '/benchmarks/datasets/from-requests', body);
  assert.equal(empty.status, 400, empty.text);
  assert.match(empty.text, /"path":"start"/);
  const turned = await call('POST', '/benchmarks/datasets/from-requests', {
    ...body,
    start: RANGE.end,
    end: RANGE.start,
  });
  assert.match(turned.text, /"path":"end"/);
  assert.equal((await gateway.post('/benchmarks/datasets/from-requests', body)).status, 403);
});
