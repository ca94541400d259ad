import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../src/lib/json.ts';
import { textOf } from '../../src/wire/json-fields.ts';
import {
  acceptResponse,
  call,
  ENDLESS,
  hasEnded,
  hasOutput,
  LONG,
  streamOf,
  until,
} from '../support/wire/responses/background.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { ENGINES, type Place } from '../support/store/engines.ts';
import { checkStream, lastResponse } from '../support/wire/responses/stream-checker.ts';

const CONFIG = 'responses: { store: database, background: true, background_per_key: 2 }';

const withoutComments = (stream: string): string => stream.replaceAll(/^: .*\n\n/gm, '');

/** What the account was charged for. */
async function recordsOf(gateway: RunningGateway, id: string): Promise<JsonObject> {
  const { status, body } = await call(gateway, 'GET', `/generation?id=${id}`, undefined, MANAGEMENT_KEY);
  assert.equal(status, 200, JSON.stringify(body));
  return body['data'] as JsonObject;
}

for (const { name, isPostgres, makePlace } of ENGINES)
  suite(`a response in the background: ${name}`, () => {
    let gateway: RunningGateway;
    let place: Place | undefined;

    before(async () => {
      place = isPostgres ? await makePlace() : undefined;
      const env = place?.url === undefined ? {} : { DATABASE_URL: place.url, GATEWAY_SECRET: 'a secret of this test' };
      gateway = await startGateway({ yaml: CONFIG, env });
    });
    after(async () => {
      await gateway.close();
      await place?.remove();
    });

    // @spec responses-114, responses-115, generation-14
    test('is accepted at once, polled while it runs, and ends as its stream says', async () => {
      const id = await acceptResponse(gateway, LONG);
      const running = await until(gateway, id, hasOutput);
      assert.equal(running['status'], 'in_progress');
      const { headers } = await call(gateway, 'GET', `/responses/${id}`);
      assert.equal(headers.get('openai-poll-after-ms'), '1000');
      const ended = await until(gateway, id, hasEnded);
      assert.equal(ended['status'], 'completed');
      assert.notEqual(ended['output_text'], '');
      const events = checkStream(await streamOf(gateway, id));
      assert.deepEqual(
        events.slice(0, 3).map((event) => event.name),
        ['created', 'queued', 'in_progress'],
      );
      const { output_text: _text, ...object } = ended;
      assert.deepEqual(lastResponse(events), object);
      const record = await recordsOf(gateway, id);
      assert.deepEqual([record['model'], record['cancelled']], ['sandbox/long', false]);
      assert.deepEqual([record['background'], record['response_id']], [true, id]);
    });

    // @spec responses-116, responses-117, responses-pains-39
    test('is streamed from any event on, live and afterwards, without a gap or a repetition', async () => {
      const posted = await fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}` },
        body: JSON.stringify({ ...LONG, stream: true }),
      });
      let seen = '';
      const decoder = new TextDecoder();
      for await (const piece of posted.body ?? []) {
        seen += decoder.decode(piece as Uint8Array, { stream: true });
        if (seen.split('output_text.delta"').length > 5) break;
      }
      const whole = withoutComments(seen.slice(0, seen.lastIndexOf('\n\n') + 2));
      const last = Number([...whole.matchAll(/"sequence_number":(\d+)/g)].at(-1)?.[1]);
      const id = /"id":"(resp_\w+)"/.exec(whole)?.[1] ?? '';
      // To hang up has not ended it.
      const rest = withoutComments(await streamOf(gateway, id, `&starting_after=${last}`));
      const all = withoutComments(await streamOf(gateway, id));
      assert.equal(whole + rest, all);
      assert.equal(lastResponse(checkStream(all))['status'], 'completed');
      assert.equal(await streamOf(gateway, id, '&starting_after=100000'), 'data: [DONE]\n\n');
    });

    // @spec responses-118, responses-119
    test('stops when it is cancelled, with what it has, is charged once, and can be continued', async () => {
      const id = await acceptResponse(gateway, ENDLESS);
      await until(gateway, id, hasOutput);
      const reading = streamOf(gateway, id);
      const cancelled = await call(gateway, 'POST', `/responses/${id}/cancel`);
      assert.deepEqual([cancelled.status, cancelled.body['status'], cancelled.body['error']], [200, 'cancelled', null]);
      assert.notEqual(cancelled.body['output_text'], '');
      const events = checkStream(await reading);
      assert.deepEqual([events.at(-1)?.name, lastResponse(events)['status']], ['failed', 'cancelled']);
      assert.deepEqual((await call(gateway, 'POST', `/responses/${id}/cancel`)).body, cancelled.body);
      assert.equal((await recordsOf(gateway, id))['cancelled'], true);
      const next = { model: 'sandbox/echo', input: 'Go on.', previous_response_id: id };
      assert.equal((await call(gateway, 'POST', '/responses', next)).status, 200);
    });

    // @spec responses-120
    test('waits while as many of its key run as may, and can be cancelled then', async () => {
      const running = [await acceptResponse(gateway, ENDLESS), await acceptResponse(gateway, ENDLESS)];
      for (const id of running) await until(gateway, id, hasOutput);
      const waiting = await acceptResponse(gateway, LONG);
      await wait(1_500);
      assert.equal((await call(gateway, 'GET', `/responses/${waiting}`)).body['status'], 'queued');
      const refused = await call(gateway, 'POST', '/responses', {
        ...LONG,
        background: false,
        previous_response_id: waiting,
      });
      assert.equal((refused.body['error'] as JsonObject)['param'], 'previous_response_id');
      const { body } = await call(gateway, 'POST', `/responses/${waiting}/cancel`);
      assert.deepEqual([body['status'], body['output']], ['cancelled', []]);
      const next = await acceptResponse(gateway, LONG);
      await call(gateway, 'DELETE', `/responses/${running[0]}`);
      assert.equal((await call(gateway, 'GET', `/responses/${running[0]}`)).status, 404);
      assert.equal((await until(gateway, next, hasEnded))['status'], 'completed');
      await call(gateway, 'POST', `/responses/${running[1]}/cancel`);
    });

    // @spec responses-121
    test('is refused by a status for what is wrong with its request, and is no concern of other keys', async () => {
      for (const [body, status, param] of [
        [{ ...LONG, store: false }, 400, 'background'],
        [{ ...LONG, provider: { zdr: true } }, 400, 'background'],
        [{ ...LONG, input: [{}] }, 400, 'input[0].type'],
        [{ ...LONG, model: 'no/such' }, 404, null],
      ] as const) {
        const refused = await call(gateway, 'POST', '/responses', body);
        assert.deepEqual([refused.status, (refused.body['error'] as JsonObject)['param']], [status, param]);
      }
      const id = await acceptResponse(gateway, LONG);
      const { body: other } = await call(gateway, 'POST', '/keys', { name: 'other' }, MANAGEMENT_KEY);
      for (const [method, path] of [
        ['GET', `/responses/${id}`],
        ['GET', `/responses/${id}?stream=true`],
        ['POST', `/responses/${id}/cancel`],
        ['DELETE', `/responses/${id}`],
      ] as const)
        assert.equal((await call(gateway, method, path, undefined, textOf(other['key']))).status, 404);
      assert.equal((await until(gateway, id, hasEnded))['status'], 'completed');
    });
  });

// @spec responses-130
test('a response in the background fails when its key is disabled, and one that waits does, too', async (t) => {
  const gateway = await startGateway({
    yaml: 'responses: { store: database, background: true, background_per_key: 1 }',
  });
  t.after(() => gateway.close());
  const { body: made } = await call(gateway, 'POST', '/keys', { name: 'k' }, MANAGEMENT_KEY);
  const key = textOf(made['key']);
  const path = `/keys/${textOf((made['data'] as JsonObject)['hash'])}`;
  const accept = async (): Promise<string> =>
    textOf((await call(gateway, 'POST', '/responses', ENDLESS, key)).body['id']) ?? '';
  const [running, waiting] = [await accept(), await accept()];
  const get = async (id: string): Promise<JsonObject> =>
    (await call(gateway, 'GET', `/responses/${id}`, undefined, key)).body;
  while (!hasOutput(await get(running))) await wait(50);
  await call(gateway, 'PATCH', path, { disabled: true }, MANAGEMENT_KEY);
  // A disabled key reads nothing: whether both have ended is in the rows alone.
  const database = new DatabaseSync(join(gateway.dataDir, 'gateway.db'), { readOnly: true });
  const unended = database.prepare("select count(*) as count from background_responses where state <> 'ended'");
  while (unended.get()?.['count'] !== 0) await wait(50);
  database.close();
  await call(gateway, 'PATCH', path, { disabled: false }, MANAGEMENT_KEY);
  const [one, other] = [await get(running), await get(waiting)];
  for (const ended of [one, other])
    assert.deepEqual([ended['status'], ended['error_type']], ['failed', 'authentication']);
  assert.notEqual(one['output_text'], '');
  assert.deepEqual(other['output'], []);
});

// @spec responses-124
test('a response in the background that takes too long fails with what it has', async (t) => {
  const gateway = await startGateway({
    yaml: 'responses: { store: database, background: true, background_minutes: 0.01 }',
  });
  t.after(() => gateway.close());
  const id = await acceptResponse(gateway, ENDLESS);
  const ended = await until(gateway, id, hasEnded);
  const { code } = ended['error'] as JsonObject;
  assert.deepEqual([ended['status'], code, ended['error_type']], ['failed', 'server_error', 'timeout']);
  assert.notEqual(ended['output_text'], '');
});
