import type { FormatId } from '../../canonical/extra.ts';
import type { HttpClient, InboundAnswer } from '../../lib/net/http-client.ts';
import type { OutgoingCall, Provider } from '../../providers/contract.ts';

export interface CallProviderDeps {
  readonly http: HttpClient;
  readonly nowMs: () => number;
  /** For the credential and the answer together. */
  readonly limitMs: number;
}

export interface Input {
  readonly method: 'GET' | 'POST';
  /** Below the host, with the query. */
  readonly target: string;
  readonly format: FormatId;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** A page for people. */
  readonly isPage: boolean;
  /** Where else it sends callers. */
  readonly location: string | undefined;
  /** How far this machine's clock is ahead of the answer's date, ms. */
  readonly clockAheadMs: number | undefined;
}

/** The time is over. */
export class TooSlow extends Error {}

const ANSWER_BYTES_MAX = 8 * 1_024 * 1_024;

/**
 * Makes one call with the credential of the provider; a POST has an empty object as its body.
 * @throws TransportError, CredentialError, TooSlow
 */
export async function callProvider(provider: Provider, input: Input, deps: CallProviderDeps): Promise<Answer> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(new TooSlow()), deps.limitMs);
  const call = prepare(provider, input);
  try {
    const credentials = await Promise.race([provider.authorize(call), limit.promise]);
    const sentMs = deps.nowMs();
    const { origin } = new URL(call.url);
    const under = deps.http.call({
      origin,
      path: input.target,
      method: call.method,
      headers: { ...call.headers, ...credentials },
      ...(call.body && { body: call.body }),
      connectTimeoutMs: call.settings.timeouts.connectMs,
    });
    limit.promise.catch(() => under.cancel());
    const answer = await Promise.race([under.answer, limit.promise]);
    const middleMs = (sentMs + deps.nowMs()) / 2;
    const text = await Promise.race([readText(answer), limit.promise]);
    under.cancel();
    return formatAnswer(answer, text, middleMs);
  } finally {
    clearTimeout(timer);
  }
}

function prepare({ settings }: Provider, { method, target, format }: Input): OutgoingCall {
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
    ...(method === 'POST' && { 'content-type': 'application/json' }),
    ...settings.headers,
  };
  const url = new URL(settings.baseUrl).origin + target;
  return { format, settings, model: '', stream: false, method, url, headers, body: method === 'POST' ? '{}' : '' };
}

async function readText(answer: InboundAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let chunk = await answer.read(); chunk !== undefined && bytes < ANSWER_BYTES_MAX; chunk = await answer.read()) {
    chunks.push(chunk);
    bytes += chunk.length;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function formatAnswer({ status, headers }: InboundAnswer, text: string, middleMs: number): Answer {
  const dateMs = Date.parse(headers['date'] ?? '');
  return {
    status,
    text,
    isPage: headers['content-type']?.startsWith('text/html') === true || /^\s*<(?:!doctype|html)/i.test(text),
    location: headers['location'],
    clockAheadMs: Number.isNaN(dateMs) ? undefined : middleMs - dateMs,
  };
}
