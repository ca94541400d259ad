import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseJsonObject, type JsonObject } from '../../../src/lib/json.ts';

/** A call that arrived at a vendor. */
export interface VendorCall {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
}

export type AnswerCall = (call: VendorCall, response: ServerResponse) => void;

export interface FakeVendor {
  /** With the version segment. */
  readonly baseUrl: string;
  readonly calls: VendorCall[];
  /** Calls of this method whose path begins so. */
  count(method: string, path: string): number;
  answer: AnswerCall;
  close(): Promise<void>;
}

/** A vendor on loopback that answers as a test says. */
export async function startVendor(answer: AnswerCall): Promise<FakeVendor> {
  const calls: VendorCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = parseJsonObject(Buffer.concat(chunks).toString('utf8')) ?? {};
      const call = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      calls.push(call);
      vendor.answer(call, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const vendor: FakeVendor = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    calls,
    answer,
    count: (method, path) => calls.filter((call) => call.method === method && call.path.startsWith(path)).length,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return vendor;
}

export function sendJson(response: ServerResponse, status: number, body: object, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** The first bytes of an MP4, and some more. */
export const CLIP = Buffer.concat([
  Buffer.from([0, 0, 0, 16]),
  Buffer.from('ftypisom\0\0\0\0', 'latin1'),
  Buffer.alloc(100_000, 'clip'),
]);

/** A vendor of the xai form: how far its jobs are, its test says. */
export async function startXai(
  stateOf: (id: string, call: VendorCall) => JsonObject = () => ({ status: 'pending' }),
): Promise<FakeVendor & { state: typeof stateOf }> {
  let made = 0;
  const vendor = await startVendor((call, response) => {
    if (call.method === 'POST') return sendJson(response, 200, { request_id: `job-${++made}` });
    const [, , , id = ''] = call.path.split('/');
    if (call.path.endsWith('/content')) {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': CLIP.length }).end(CLIP);
      return;
    }
    sendJson(response, 200, xai.state(id, call));
  });
  const xai = Object.assign(vendor, { state: stateOf });
  return xai;
}

export function done(vendor: Pick<FakeVendor, 'baseUrl'>, id: string, seconds = 4): JsonObject {
  return { status: 'done', video: { url: `${vendor.baseUrl}/videos/${id}/content`, duration: seconds } };
}
