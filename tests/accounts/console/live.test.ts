import assert from 'node:assert/strict';
import { request as callHttp, type IncomingMessage } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { LIVE_EVENT_SCHEMAS } from '../../../src/http/console/live-events.ts';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { manage, textAt } from '../../support/byok.ts';
import { API_KEY, startGateway, type RunningGateway } from '../../support/gateway.ts';
import { callRaw, signIn, type SignedIn } from '../../support/http/console-client.ts';

interface Received {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: JsonObject;
}

interface View {
  readonly response: IncomingMessage;
  /** The next event of a kind. */
  next(kind: string): Promise<Received>;
  close(): void;
}

/** Reads the stream as the worker of the page does. */
function open(
  gateway: RunningGateway,
  session: SignedIn,
  query = '',
  more: Record<string, string> = {},
): Promise<View> {
  return new Promise((resolve, reject) => {
    const headers = { ...session.headers, ...more };
    const sent = callHttp(`${gateway.url}/ui/api/live${query}`, { headers }, (response) => {
      const received: Received[] = [];
      const waiting: { readonly kind: string; readonly take: (event: Received) => void }[] = [];
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          const event = parse(block);
          const at = waiting.findIndex(({ kind }) => kind === event?.event);
          if (event === undefined) continue;
          if (at < 0) received.push(event);
          else waiting.splice(at, 1)[0]?.take(event);
        }
      });
      resolve({
        response,
        next(kind) {
          const at = received.findIndex(({ event }) => event === kind);
          const [found] = at < 0 ? [] : received.splice(at, 1);
          return found === undefined ? new Promise((take) => waiting.push({ kind, take })) : Promise.resolve(found);
        },
        close: () => void sent.destroy(),
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

function parse(block: string): Received | undefined {
  const fields = new Map(block.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]));
  const [event, data] = [fields.get('event'), fields.get('data')];
  if (event === undefined || data === undefined) return undefined;
  const parsed: unknown = JSON.parse(data);
  assert.ok(isJsonObject(parsed));
  assert.ok(event === 'rows' || event === 'counts' || event === 'gap', event);
  // The document says what each event holds.
  LIVE_EVENT_SCHEMAS[event].parse(parsed);
  return { event, id: fields.get('id'), data: parsed };
}

function modelsIn({ data }: Received): readonly unknown[] {
  assert.ok(Array.isArray(data['rows']));
  return data['rows'].map((row) => (isJsonObject(row) ? row['requested_model'] : row));
}

suite('GET /ui/api/live', () => {
  let gateway: RunningGateway;
  let operator: SignedIn;
  const views: View[] = [];
  before(async () => {
    gateway = await startGateway();
    operator = await signIn(gateway);
  });
  after(async () => {
    for (const view of views) view.close();
    await gateway.close();
  });

  const view = async (...given: [SignedIn?, string?, Record<string, string>?]): Promise<View> => {
    const [session = operator, query, headers] = given;
    const opened = await open(gateway, session, query, headers);
    views.push(opened);
    return opened;
  };
  const ask = (model: string, key = API_KEY) =>
    gateway.post(
      '/chat/completions',
      { model, messages: [{ role: 'user', content: 'Hi' }] },
      { authorization: `Bearer ${key}` },
    );

  // @spec console-15
  test('shows generations as they end, with exact counts of a second', async () => {
    const tail = await view();
    assert.equal(tail.response.headers['content-type'], 'text/event-stream');
    assert.equal(tail.response.headers['access-control-allow-origin'], undefined);
    await ask('sandbox/echo');
    await ask('sandbox/error-429');
    const rows = [...modelsIn(await tail.next('rows'))];
    while (rows.length < 2) rows.push(...modelsIn(await tail.next('rows')));
    assert.deepEqual(rows, ['sandbox/echo', 'sandbox/error-429']);
    const sums = { requests: 0, errors: 0 };
    // The second may have ended between them.
    while (sums.requests < 2) {
      const { data } = await tail.next('counts');
      sums.requests += Number(data['requests']);
      sums.errors += Number(data['errors']);
    }
    assert.deepEqual(sums, { requests: 2, errors: 1 });
  });

  test('shows what the filters of the view leave', async () => {
    const [failed, other] = [await view(operator, '?status=error'), await view(operator, '?model=acme/*&key=none')];
    const served = await view(operator, '?provider=sandbox&status=2xx');
    await ask('sandbox/echo');
    await ask('sandbox/error-429');
    assert.deepEqual(modelsIn(await failed.next('rows')), ['sandbox/error-429']);
    assert.deepEqual(modelsIn(await served.next('rows')), ['sandbox/echo']);
    await other.next('counts');
    const first = await Promise.race([other.next('rows'), other.next('counts')]);
    assert.equal(first.event, 'counts');
  });

  // @spec console-15
  test('refuses filters that no list takes, each by its name', async () => {
    for (const [query, path] of [
      ['status=broken', 'query.status'],
      ['min_cost=much', 'query.min_cost'],
      ['cached=perhaps', 'query.cached'],
      ['model=a&model=b', 'query.model'],
      ['from=2026-01-01T00:00:00Z', 'query.from'],
      ['stat=error', 'query.stat'],
    ]) {
      // A stream that was opened after all would have no end to wait for.
      assert.equal((await view(operator, `?${query}`)).response.statusCode, 400, query);
      const refused = await callRaw(gateway, 'GET', `/ui/api/live?${query}`, operator.headers);
      assert.match(refused.text, new RegExp(`"path":"${path}"`));
    }
  });

  // @spec console-15
  test('shows a member the rows and the counts of its own key alone', async () => {
    const { body } = await manage(gateway, 'POST', '/keys', { name: 'Other' });
    const other = textAt(body, 'key');
    const tail = await view(await signIn(gateway, { key: other }), '?model=sandbox/*');
    const all = await view();
    await ask('sandbox/echo');
    await ask('sandbox/reasoning', other);
    assert.deepEqual(modelsIn(await tail.next('rows')), ['sandbox/reasoning']);
    const sums = { requests: 0, tokens: 0 };
    const ofAll = { requests: 0 };
    // The second may have ended between them.
    while (ofAll.requests < 2) ofAll.requests += Number((await all.next('counts')).data['requests']);
    while (sums.requests < 1) {
      const { data } = await tail.next('counts');
      sums.requests += Number(data['requests']);
      sums.tokens += Number(data['tokens']);
      assert.equal(data['sampled'], false);
    }
    const { data } = await tail.next('counts');
    assert.deepEqual([sums.requests, data['requests'], sums.tokens > 0], [1, 0, true]);
  });

  test('goes on behind the row that the browser saw last, and says where it cannot', async () => {
    const tail = await view();
    await ask('sandbox/echo');
    const { id = '' } = await tail.next('rows');
    await ask('sandbox/reasoning');
    await tail.next('rows');
    const resumed = await view(operator, '', { 'last-event-id': id });
    assert.deepEqual(modelsIn(await resumed.next('rows')), ['sandbox/reasoning']);
    const lost = await view(operator, '', { 'last-event-id': 'another-process:1' });
    assert.deepEqual((await lost.next('gap')).data, { missed: null });
  });

  test('is refused without both secrets, and beyond twenty views', async () => {
    assert.equal((await callRaw(gateway, 'GET', '/ui/api/live', { ...operator.headers, cookie: '' })).status, 401);
    for (const each of views.splice(0)) each.close();
    const statuses = [];
    for (let each = 0; each < 25; each++) statuses.push((await view()).response.statusCode);
    assert.ok(statuses.includes(429));
  });
});
