import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { manage, textAt } from '../../support/byok.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../../support/gateway.ts';

function rowsOf(body: JsonObject): readonly JsonObject[] {
  assert.ok(Array.isArray(body['data']));
  return body['data'].filter((row) => isJsonObject(row));
}

suite('GET /generations', () => {
  let gateway: RunningGateway;
  let other = '';
  before(async () => {
    gateway = await startGateway();
    const { body } = await manage(gateway, 'POST', '/keys', { name: 'Other' });
    other = textAt(body, 'key');
    const messages = [{ role: 'user', content: 'Hi' }];
    await gateway.post('/chat/completions', { model: 'sandbox/echo', messages });
    await gateway.post('/chat/completions', { model: 'sandbox/error-429', messages }, { 'x-session-id': 'cart-17' });
    await gateway.post('/chat/completions', { model: 'sandbox/echo', messages }, { authorization: `Bearer ${other}` });
  });
  after(() => gateway.close());

  // @spec generation-15
  test('lists all for management keys, newest first, with the names of keys', async () => {
    const { status, body } = await manage(gateway, 'GET', '/generations');
    assert.equal(status, 200);
    assert.deepEqual(
      rowsOf(body).map(({ model, status: answered, api_key_name: name }) => [model, answered, name]),
      [
        ['sandbox/echo', 200, 'Other'],
        ['sandbox/error-429', 429, null],
        ['sandbox/echo', 200, null],
      ],
    );
    assert.deepEqual([body['next_cursor'], body['searched_to'], body['looked_at']], [null, null, 3]);
  });

  // @spec generation-15
  test('lists to a normal key its own alone, whatever it filters by', async () => {
    const { body } = await manage(gateway, 'GET', '/generations', undefined, other);
    const rows = rowsOf(body);
    assert.deepEqual([rows.length, rows[0]?.['api_key_name'], body['looked_at']], [1, 'Other', null]);
    const foreign = rowsOf((await manage(gateway, 'GET', '/generations', undefined, API_KEY)).body)[0];
    assert.ok(foreign !== undefined);
    const asked = await manage(gateway, 'GET', `/generations?key=${textAt(foreign, 'api_key_hash')}`, undefined, other);
    assert.deepEqual(rowsOf(asked.body), []);
  });

  test('gives a normal key no id of a generation that is not its own', async () => {
    const { body } = await manage(gateway, 'GET', '/generations?limit=1', undefined, API_KEY);
    const next = Buffer.from(textAt(body, 'next_cursor'), 'base64url').toString('utf8');
    assert.ok(
      rowsOf(body).some(({ id }) => next.endsWith(` ${textAt({ id }, 'id')}`)),
      next,
    );
  });

  test('filters, and goes on behind a page', async () => {
    const failed = await manage(gateway, 'GET', '/generations?status=error&session=cart-17&model=sandbox/*');
    assert.equal(rowsOf(failed.body).length, 1);
    const first = await manage(gateway, 'GET', '/generations?limit=2');
    const next = await manage(gateway, 'GET', `/generations?limit=2&cursor=${textAt(first.body, 'next_cursor')}`);
    assert.deepEqual([rowsOf(first.body).length, rowsOf(next.body).length, next.body['next_cursor']], [2, 1, null]);
  });

  test('exports what the filters leave, as CSV that no spreadsheet runs and as lines of JSON', async () => {
    const get = async (query: string, key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${gateway.baseUrl}/generations/export?${query}`, { headers });
      return { response, text: await response.text() };
    };
    await gateway.post(
      '/chat/completions',
      { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] },
      { 'x-session-id': '=1+1,"a"' },
    );
    const { response, text } = await get('model=sandbox/echo', MANAGEMENT_KEY);
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8', text);
    const [head = '', newest = '', ...others] = text.trimEnd().split('\r\n');
    assert.match(head, /^id,request_id,session_id,created_at,/);
    assert.ok(newest.includes(`,"'=1+1,""a""",`), newest);
    assert.equal(others.length, 2);
    const lines = (await get('format=jsonl', other)).text.trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => {
        const row: unknown = JSON.parse(line);
        return isJsonObject(row) ? row['api_key_name'] : row;
      }),
      ['Other'],
    );
    assert.equal((await get('limit=1', MANAGEMENT_KEY)).response.status, 400);
  });

  test('refuses wrong filters with their names', async () => {
    for (const wrong of [
      'cursor=x',
      'limit=501',
      'status=7xx',
      'from=yesterday',
      'cached=1',
      'nothing=1',
      'min_ms=-1',
      'min_ms=1.5',
      'min_ttft=0.5',
    ]) {
      const { status, text } = await manage(gateway, 'GET', `/generations?${wrong}`);
      assert.equal(status, 400, wrong);
      assert.match(text, new RegExp(`query\\.?${wrong.split('=')[0] ?? ''}|nothing`), wrong);
    }
  });
});
