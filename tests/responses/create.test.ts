import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { textOf } from '../../src/wire/json-fields.ts';
import { responsesEventSchema, responsesResultSchema } from '../../src/wire/responses/response/response-schema.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';

async function json(response: Response): Promise<JsonObject> {
  return (await response.json()) as JsonObject;
}

suite('POST /responses', () => {
  // @spec responses-1, responses-2, responses-59
  test('gives one response, by the documented schema, under each version of the path and each header of the key', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const body = JSON.stringify({ model: 'sandbox/echo', input: 'Hello' });
    for (const path of ['/v1/responses', '/api/v1/responses'])
      for (const headers of [
        { authorization: `Bearer ${API_KEY}` },
        { 'x-api-key': API_KEY },
        { 'api-key': API_KEY },
      ]) {
        const response = await fetch(gateway.url + path, { method: 'POST', headers, body });
        assert.equal(response.status, 200);
        const { output_text: text, id } = responsesResultSchema.parse(await json(response));
        assert.equal(text, 'Hello');
        assert.equal(response.headers.get('x-generation-id')?.replaceAll('-', '').replace('gen', 'resp_'), id);
        assert.equal(response.headers.get('x-request-id'), response.headers.get('x-generation-id'));
      }
  });

  // @spec responses-69
  test('streams events by the documented schema, numbered without a gap, down to [DONE]', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const response = await gateway.post('/responses', { model: 'sandbox/reasoning', input: 'Why?', stream: true });
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    assert.equal(response.headers.get('x-reasoning-included'), 'true');
    const data = (await response.text())
      .split('\n')
      .flatMap((line) => (line.startsWith('data: ') ? line.slice('data: '.length) : []));
    assert.equal(data.pop(), '[DONE]');
    const events = data.map((text) => responsesEventSchema.parse(JSON.parse(text)));
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_event, at) => at),
    );
    assert.equal(events.at(-1)?.type, 'response.completed');
  });

  // @spec responses-3
  test('refuses a wrong member in its own shape, with the path of the member', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const response = await gateway.post('/responses', { model: 'sandbox/echo', input: [{ type: 'message' }] });
    assert.equal(response.status, 400);
    const body = (await json(response)) as { error: JsonObject; error_type: string };
    assert.deepEqual(
      [body.error['code'], body.error['type'], body.error['param'], body.error_type],
      [400, 'invalid_prompt', 'input[0].role', 'invalid_prompt'],
    );
    const unknown = await fetch(`${gateway.url}/v1/responses/none/none`);
    assert.equal(unknown.status, 404);
    assert.equal((await json(unknown))['error_type'], 'not_found');
  });

  // @spec responses-88, generation-14
  test('goes on from a kept response, and records the generation as one of this endpoint', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const first = await json(await gateway.post('/responses', { model: 'sandbox/echo', input: 'My name is Ann.' }));
    const second = await json(
      await gateway.post('/responses', {
        model: 'sandbox/echo',
        input: 'Who am I?',
        previous_response_id: first['id'],
      }),
    );
    assert.equal(second['previous_response_id'], first['id']);
    const usage = second['usage'] as { input_tokens: number };
    assert.ok(usage.input_tokens > 6, 'all of the conversation was sent');
    const url = `${gateway.url}/v1/generation?id=${textOf(second['id'])}`;
    const found = await fetch(url, { headers: { authorization: `Bearer ${MANAGEMENT_KEY}` } });
    const { data } = (await json(found)) as { data: JsonObject };
    assert.deepEqual(
      [data['response_id'], data['previous_response_id'], data['background']],
      [second['id'], first['id'], false],
    );
  });
});
