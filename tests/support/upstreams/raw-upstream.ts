import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseJsonObject, type JsonObject } from '../../../src/lib/json.ts';

/** A call that an upstream received. */
export interface RawCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  /** Empty for what is no JSON. */
  readonly body: JsonObject;
}

/** An upstream of tests that takes anything, and answers as the test says. */
export class RawUpstream {
  readonly seen: RawCall[] = [];
  answer: (call: RawCall, response: ServerResponse, number: number) => void = () => assert.fail('no answer is set');
  url = '';
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    const { method = '', url: path = '', headers } = request;
    const call = { method, path, headers, bytes, body: parseJsonObject(bytes.toString()) ?? {} };
    this.seen.push(call);
    this.answer(call, response, this.seen.length);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The form that a call brought. */
export function formOf({ bytes, headers }: RawCall): Promise<FormData> {
  return new Response(Uint8Array.from(bytes), {
    headers: { 'content-type': headers['content-type'] ?? '' },
  }).formData();
}
