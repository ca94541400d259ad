import assert from 'node:assert/strict';
import { request as callHttp, type IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { MANAGEMENT_KEY, type RunningGateway } from '../gateway.ts';

export interface BrowserReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** `{}` where the body is no JSON object. */
  readonly body: JsonObject;
}

type Gateway = Pick<RunningGateway, 'url'>;
type Headers = Readonly<Record<string, string>>;

/** Sends exactly these headers, which `fetch` does not let a program choose. */
export function callRaw(
  { url }: Gateway,
  method: string,
  path: string,
  headers: Headers = {},
  body?: string,
): Promise<BrowserReply> {
  return new Promise((resolve, reject) => {
    const sent = callHttp(
      `${url}/`,
      {
        method,
        path,
        headers: { ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }), ...headers },
      },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: objectIn(text) });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function objectIn(text: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** What the dashboard's page sends with each call. */
export const SAME_ORIGIN: Headers = { 'sec-fetch-site': 'same-origin' };

/** A session of the dashboard, as its page has it. */
export interface SignedIn {
  readonly id: string;
  readonly cookie: string;
  readonly token: string;
  readonly headers: Headers;
  call(method: string, path: string, body?: unknown, headers?: Headers): Promise<BrowserReply>;
}

export function postSession(gateway: Gateway, proof: unknown, headers: Headers = SAME_ORIGIN): Promise<BrowserReply> {
  const type = { 'content-type': 'application/json' };
  return callRaw(gateway, 'POST', '/ui/api/session', { ...type, ...headers }, JSON.stringify(proof));
}

export async function signIn(gateway: Gateway, proof: unknown = { key: MANAGEMENT_KEY }): Promise<SignedIn> {
  const { status, text, body, headers } = await postSession(gateway, proof);
  assert.equal(status, 201, text);
  const { data } = body;
  assert.ok(isJsonObject(data));
  const { id, token } = data;
  assert.ok(typeof id === 'string' && typeof token === 'string');
  const [cookie = ''] = (headers['set-cookie']?.[0] ?? '').split(';', 1);
  const own = { ...SAME_ORIGIN, cookie, 'x-console-token': token };
  return {
    id,
    cookie,
    token,
    headers: own,
    call: (method, path, sent, more = {}) =>
      callRaw(
        gateway,
        method,
        path,
        { ...own, ...(sent !== undefined && { 'content-type': 'application/json' }), ...more },
        sent === undefined ? undefined : JSON.stringify(sent),
      ),
  };
}
