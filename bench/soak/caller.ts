import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import type { ChatOrMessages } from '../../tests/support/chat-or-messages.ts';

const CONNECTIONS_MAX = 256;
const ANSWER_MS_MAX = 120_000;
/** How much of an answer is kept to be looked at: its end. */
const TAIL_CHARS = 400;
const SHORT_READS = 3;

/** What a caller does with an answer, besides reading it. */
export type Manner =
  | 'reads'
  /** Reads nothing for two seconds, then a little, then the rest. */
  | 'reads slowly'
  /** Closes the connection at the first bytes of the answer. */
  | 'hangs up';

export interface Ask {
  readonly format: ChatOrMessages;
  readonly key: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly manner?: Manner;
  /** Closes the connection before there is an answer, when this settles. */
  readonly hangsUpAfter?: Promise<void>;
}

export interface Seen {
  /** 0: the caller hung up before there was an answer. */
  readonly status: number;
  /** The end of the answer. */
  readonly tail: string;
  /** The caller read it to its end. */
  readonly complete: boolean;
}

export interface Caller {
  /** @throws Error when the connection broke, or nothing came for two minutes */
  ask(question: Ask): Promise<Seen>;
  /** Closes connections that rest. */
  close(): void;
}

/** Callers with a pool of connections, as SDKs have them. */
export function createCaller(server: { readonly host: string; readonly port: number }): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  return {
    ask: (question) => ask(server, agent, question),
    close: () => agent.destroy(),
  };
}

async function ask(
  server: { readonly host: string; readonly port: number },
  agent: Agent,
  { format, key, body, headers, manner = 'reads', hangsUpAfter }: Ask,
): Promise<Seen> {
  const text = JSON.stringify(body);
  const { promise, resolve, reject } = Promise.withResolvers<Seen>();
  const outgoing = request(
    {
      ...server,
      agent,
      method: 'POST',
      path: format === 'chat' ? '/v1/chat/completions' : '/v1/messages',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        ...(format === 'chat'
          ? { authorization: `Bearer ${key}` }
          : { 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
        ...headers,
      },
    },
    (response) => {
      const status = response.statusCode ?? 0;
      let tail = '';
      if (manner === 'hangs up') {
        response.once('data', () => {
          resolve({ status, tail, complete: false });
          outgoing.destroy();
        });
        response.on('error', () => undefined);
        return;
      }
      response.setEncoding('utf8').on('data', (piece: string) => (tail = (tail + piece).slice(-TAIL_CHARS)));
      response.once('end', () => resolve({ status, tail, complete: true }));
      response.once('error', reject);
      if (manner === 'reads slowly') void readSlowly(response);
    },
  );
  outgoing.setTimeout(ANSWER_MS_MAX, () => outgoing.destroy(new Error('nothing came for two minutes')));
  outgoing.on('error', reject);
  outgoing.end(text);
  const hangUp = (): void => {
    resolve({ status: 0, tail: '', complete: false });
    outgoing.destroy();
  };
  void hangsUpAfter?.then(hangUp);
  return promise;
}

async function readSlowly(response: NodeJS.ReadableStream): Promise<void> {
  response.pause();
  await wait(2_000);
  for (let read = 0; read < SHORT_READS; read++) {
    response.resume();
    await wait(5);
    response.pause();
    await wait(200);
  }
  response.resume();
}
