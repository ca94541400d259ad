import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { request, type Dispatcher } from 'undici';
import { addressErrorIn, createGuardedAgent, type GuardedAgentOptions } from '../../lib/net/guarded-agent.ts';
import type { CallAnswer, OutboundCall } from './contract.ts';

/** What became of one call. */
export type PostOutcome =
  | CallAnswer
  /** There was no response. The reason is safe to show. */
  | { readonly status: undefined; readonly reason: string; readonly isRefused: boolean };

export interface PostOptions {
  /** Default: ten seconds. */
  readonly msMax?: number;
  readonly isCompressed?: boolean;
  /** Ends the call. */
  readonly signal?: AbortSignal;
}

/** Calls addresses that users chose. */
export interface Poster {
  /** Never rejects. */
  post(call: Omit<OutboundCall, 'ids'>, options?: PostOptions): Promise<PostOutcome>;
  /** Why an address is not called whatever it answers; `undefined`: it may be. */
  faultOf(url: string): string | undefined;
  close(): Promise<void>;
}

const POST_MS_MAX = 10_000;
/** Of a response: the rest is not read. */
const ANSWER_BYTES_MAX = 64 * 1_024;
/** Smaller bodies are sent as they are. */
const COMPRESSED_BYTES_MIN = 1_024;
const COMPRESSION_LEVEL = 1;
const compress = promisify(gzip);

export function createPoster(options: GuardedAgentOptions): Poster {
  const agent = createGuardedAgent(options);
  return {
    async post({ url, method, headers, body }, { msMax = POST_MS_MAX, isCompressed = false, signal } = {}) {
      const timeout = AbortSignal.timeout(msMax);
      const ended = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
      try {
        const isLarge = body !== undefined && isCompressed && Buffer.byteLength(body) >= COMPRESSED_BYTES_MIN;
        const answer = await request(agent.admit(url), {
          dispatcher: agent.dispatcher,
          method,
          headers: {
            'user-agent': 'model-gateway',
            ...headers,
            ...(isLarge && { 'content-encoding': 'gzip' }),
          },
          body: isLarge ? await compress(body, { level: COMPRESSION_LEVEL }) : (body ?? null),
          signal: ended,
        });
        const bytes = await readBeginning(answer.body);
        return { status: answer.statusCode, headers: headersOf(answer), text: bytes.toString('utf8'), bytes };
      } catch (error) {
        const refused = addressErrorIn(error)?.message;
        const reason = timeout.aborted ? 'The address took too long to answer.' : 'The address could not be reached.';
        return { status: undefined, reason: refused ?? reason, isRefused: refused !== undefined };
      }
    },
    faultOf(url) {
      try {
        agent.admit(url);
        return undefined;
      } catch (error) {
        const refused = addressErrorIn(error);
        if (refused === undefined) throw error;
        return refused.message;
      }
    },
    close: () => agent.close(),
  };
}

function headersOf({ headers }: Dispatcher.ResponseData): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

/** The connection ends where the limit does: a body without an end must not be read. */
async function readBeginning(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= ANSWER_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX);
}
