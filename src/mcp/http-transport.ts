import { StreamableHTTPClientTransport, type FetchLike } from '@modelcontextprotocol/client';
import { Agent, fetch } from 'undici';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { GrowingBytes } from '../lib/memory/growing-bytes.ts';
import { namesVault } from '../canonical/vault-reference.ts';
import type { ProxyOf } from '../lib/net/proxy/proxies.ts';
import { createConnector } from '../lib/net/skip-continue.ts';
import type { HttpServerSettings } from './settings.ts';

/** One message of a server, as bytes: an answer as JSON, or an event of a stream. */
const MESSAGE_BYTES_MAX = 10_485_760;
/** A message is there in pieces, as text, and parsed. */
const COPIES = 3;
const CONNECT_MS_MAX = 5_000;
/** Of the stream on which a server speaks unasked: how often, and after how long, it is opened again. */
const REOPENINGS_MAX = 5;
const REOPEN_MS = 1_000;
const REOPEN_MS_MAX = 30_000;
const REOPEN_GROWTH = 2;

/** What all servers are called through. Other limits on time belong to each call. */
export function createMcpAgent(proxyOf?: ProxyOf): Agent {
  const connect = createConnector({ timeout: CONNECT_MS_MAX, allowH2: false }, proxyOf);
  return new Agent({ connect, headersTimeout: 0, bodyTimeout: 0, allowH2: false });
}

/**
 * Fills texts that name secrets of the vault; others stay as they are.
 * @param url where they are sent. Absent: a process beside the gateway gets them
 */
export type FillTexts = (
  texts: Readonly<Record<string, string>>,
  url?: string,
) => Promise<Readonly<Record<string, string>>>;

export interface HttpTransportSetup {
  readonly settings: HttpServerSettings;
  readonly agent: Agent;
  /** For messages while they come. Absent: nothing counts them. */
  readonly memory?: ByteBudget | undefined;
  /** Absent: no header names a secret. */
  readonly fill?: FillTexts | undefined;
}

/** Redirects are followed within the origin alone: the library's default. */
export function openHttpTransport({
  settings,
  agent,
  memory,
  fill,
}: HttpTransportSetup): StreamableHTTPClientTransport {
  const headers = Object.entries(settings.headers);
  const named = Object.fromEntries(headers.filter(([, text]) => namesVault(text)));
  const hasSecrets = fill !== undefined && Object.keys(named).length > 0;
  return new StreamableHTTPClientTransport(new URL(settings.url), {
    requestInit: { headers: Object.fromEntries(headers.filter(([, text]) => !namesVault(text))) },
    fetch: boundedFetch(agent, memory, hasSecrets ? (url) => fill(named, url) : undefined),
    reconnectionOptions: {
      initialReconnectionDelay: REOPEN_MS,
      maxReconnectionDelay: REOPEN_MS_MAX,
      reconnectionDelayGrowFactor: REOPEN_GROWTH,
      maxRetries: REOPENINGS_MAX,
    },
  });
}

/** The library reads whatever comes to its end, so that what comes is bounded here. */
function boundedFetch(
  agent: Agent,
  memory: ByteBudget | undefined,
  secretHeaders?: (url: string) => Promise<Readonly<Record<string, string>>>,
): FetchLike {
  return async (url, { method = 'GET', headers, body, signal, redirect } = {}) => {
    const answer = await fetch(url, {
      dispatcher: agent,
      method,
      headers: [...new Headers(headers), ...Object.entries((await secretHeaders?.(String(url))) ?? {})],
      // The library sends nothing but JSON text.
      body: typeof body === 'string' ? body : null,
      signal: signal ?? null,
      ...(redirect !== undefined && { redirect }),
    });
    const { status, statusText } = answer;
    const isStream = answer.headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
    const taken = memory && new GrowingBytes(memory, signal ?? new AbortController().signal);
    const bounded = answer.body === null ? null : answer.body.pipeThrough(boundMessages(isStream, taken));
    return new Response(bounded, { status, statusText, headers: [...answer.headers] });
  };
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** What throws in a transformation ends it without a word to it. @throws NoMemoryError */
async function holdOrClose(taken: GrowingBytes | undefined, bytes: number): Promise<void> {
  try {
    await taken?.hold(bytes);
  } catch (error) {
    taken?.close();
    throw error;
  }
}

/** Counts from one empty line to the next where it is a stream, whose events end so; whatever else comes is one message. */
function boundMessages(
  isStream: boolean,
  taken: GrowingBytes | undefined,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let isLineEmpty = false;
  return new TransformStream({
    async transform(chunk, controller) {
      for (const byte of chunk) {
        bytes++;
        if (byte === LINE_FEED) {
          if (isLineEmpty && isStream) bytes = 0;
          isLineEmpty = true;
        } else if (byte !== CARRIAGE_RETURN) isLineEmpty = false;
      }
      if (bytes > MESSAGE_BYTES_MAX) {
        taken?.close();
        controller.error(new Error('A message of the server is too long.'));
        return;
      }
      if (bytes === 0) taken?.shrink(0);
      else await holdOrClose(taken, bytes * COPIES);
      controller.enqueue(chunk);
    },
    flush: () => taken?.close(),
    cancel: () => taken?.close(),
  });
}
