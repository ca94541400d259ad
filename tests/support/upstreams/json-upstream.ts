import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseJsonObject, type JsonObject } from '../../../src/lib/json.ts';

/** A call that an upstream received. */
export interface SeenCall {
  readonly path: string;
  readonly body: JsonObject;
}

/** What an upstream answers: a status and a body. */
export type JsonAnswer = (
  seen: SeenCall,
  call: number,
) => {
  readonly status?: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** An upstream of these tests: it takes JSON, and answers as the test says. */
export interface JsonUpstream {
  readonly url: string;
  readonly seen: SeenCall[];
  answer: JsonAnswer;
  close(): Promise<void>;
}

export async function startJsonUpstream(answer: JsonAnswer): Promise<JsonUpstream> {
  const seen: SeenCall[] = [];
  const server = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      const text = await readText(request);
      const one = { path: request.url ?? '', body: parseJsonObject(text) ?? {} };
      seen.push(one);
      const { status = 200, body, headers } = upstream.answer(one, seen.length);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    };
    void respond();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const upstream: JsonUpstream = {
    url: `http://127.0.0.1:${port}`,
    seen,
    answer,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return upstream;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws AssertionError for what is no text */
export function textIn(value: unknown): string {
  assert.ok(typeof value === 'string');
  return value;
}
