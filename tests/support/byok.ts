import assert from 'node:assert/strict';
import { assertAsDocumented } from './management/documented.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { MANAGEMENT_KEY, type RunningGateway } from './gateway.ts';
import type { ScriptedUpstream, Script } from './upstream.ts';

/** Calls a management route. Fails for an answer that it does not document. */
export async function manage(
  gateway: Pick<RunningGateway, 'baseUrl'>,
  method: string,
  path: string,
  body?: unknown,
  key: string = MANAGEMENT_KEY,
): Promise<{ readonly status: number; readonly body: JsonObject; readonly text: string }> {
  const response = await fetch(gateway.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed: unknown = JSON.parse(text);
  assert.ok(isJsonObject(parsed), text);
  const reply = { status: response.status, body: parsed, text };
  assertAsDocumented(method, path, reply);
  return reply;
}

/** Brings a credential; gives its record. */
export async function bring(
  gateway: Pick<RunningGateway, 'baseUrl'>,
  provider: string,
  key: string,
  more: object = {},
): Promise<JsonObject> {
  const { status, body, text } = await manage(gateway, 'POST', '/byok', { provider, key, ...more });
  assert.equal(status, 201, text);
  assert.ok(isJsonObject(body['data']), text);
  return body['data'];
}

/** The credential that each call came with, oldest first. */
export function keysSeen(upstream: Pick<ScriptedUpstream, 'arrived'>): string[] {
  return upstream.arrived.map(({ headers }) =>
    String(headers['authorization'] ?? headers['x-api-key']).replace('Bearer ', ''),
  );
}

/** Answers by the credential that a call came with; others fail the test's request with 500. */
export function byKey(scripts: Readonly<Record<string, Script>>): Script {
  return (arrived, response, request) => {
    const [key = ''] = keysSeen({ arrived: [arrived] });
    const script = scripts[key];
    if (script === undefined) return void response.writeHead(500).end('an unexpected credential');
    return script(arrived, response, request);
  };
}

/** A member that is text. */
export function textAt(object: JsonObject, member: string): string {
  const value = object[member];
  assert.ok(typeof value === 'string', JSON.stringify(object));
  return value;
}
