import { request } from 'undici';
import type { Clock } from '../../lib/clock.ts';
import { createLruCache } from '../../lib/cache/lru-cache.ts';
import { isJsonObject, parseJson, type Json } from '../../lib/json.ts';
import { addressErrorIn, createGuardedAgent, type GuardedAgentOptions } from '../../lib/net/guarded-agent.ts';
import { OauthRefusal } from './oauth-refusal.ts';
import { isRedirectUri } from './redirect-uris.ts';

/** What a client says of itself, in its document or when it registers. */
export interface ClientFacts {
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** Documents at addresses by which clients are named (Client ID Metadata Documents). */
export interface ClientDocuments {
  /** @throws OauthRefusal for a document that cannot be had, or is none of this address */
  read(clientId: string): Promise<ClientFacts>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 5_000;
const DOCUMENT_BYTES_MAX = 65_536;
const DOCUMENTS_MAX = 500;
const FRESH_MS_MIN = 300_000;
const FRESH_MS_MAX = 86_400_000;
const REDIRECT_URIS_MAX = 20;
const NAME_CHARS_MAX = 60;
const CLIENT_ID_CHARS_MAX = 2_048;
/** Signs that turn the order of a text around, and others that are invisible. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** Whether a client is named by the address of its document. */
export function isDocumentAddress(clientId: string): boolean {
  const url = clientId.length > CLIENT_ID_CHARS_MAX ? null : URL.parse(clientId);
  // What the parser would change, such as `..`, would name one document in several ways.
  return (
    url?.protocol === 'https:' &&
    url.pathname !== '/' &&
    url.hash === '' &&
    url.username === '' &&
    url.href === clientId
  );
}

export function createClientDocuments({
  clock,
  guard,
}: {
  readonly clock: Clock;
  readonly guard?: GuardedAgentOptions;
}): ClientDocuments {
  const agent = createGuardedAgent(guard);
  const known = createLruCache<string, { readonly facts: ClientFacts; readonly untilMs: number }>(DOCUMENTS_MAX);
  async function fetchDocument(clientId: string): Promise<{ readonly text: string; readonly freshMs: number }> {
    const { statusCode, headers, body } = await request(agent.admit(clientId), {
      dispatcher: agent.dispatcher,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'model-gateway' },
    });
    try {
      if (statusCode !== 200) throw refuse(`The document of the client answers with status ${statusCode}.`);
      const pieces: Buffer[] = [];
      let bytes = 0;
      for await (const piece of body) {
        const part: Buffer = piece;
        bytes += part.length;
        if (bytes > DOCUMENT_BYTES_MAX)
          throw refuse(`The document of the client is larger than ${DOCUMENT_BYTES_MAX} bytes.`);
        pieces.push(part);
      }
      return { text: Buffer.concat(pieces).toString('utf8'), freshMs: freshMsOf(headers['cache-control']) };
    } finally {
      // An unread body emits an error when it is destroyed.
      body.on('error', () => undefined).destroy();
    }
  }
  return {
    async read(clientId) {
      const found = known.get(clientId);
      if (found !== undefined && found.untilMs > clock.monotonicMs()) return found.facts;
      const { text, freshMs } = await fetchDocument(clientId).catch((error: unknown) => {
        if (error instanceof OauthRefusal) throw error;
        throw refuse(addressErrorIn(error)?.message ?? 'The document of the client could not be read.', error);
      });
      const document = parseJson(text);
      if (!isJsonObject(document) || document['client_id'] !== clientId)
        throw refuse('The document of the client is not JSON whose client_id is its own address.');
      const facts = parseClientFacts(document, new URL(clientId).hostname);
      known.set(clientId, { facts, untilMs: clock.monotonicMs() + freshMs });
      return facts;
    },
    close: () => agent.close(),
  };
}

/** @throws OauthRefusal. @source RFC 7591, 2 */
export function parseClientFacts(metadata: Json | undefined, usualName: string): ClientFacts {
  if (!isJsonObject(metadata)) throw new OauthRefusal('invalid_client_metadata', 'The metadata must be a JSON object.');
  const { redirect_uris: uris, client_name: name, token_endpoint_auth_method: method } = metadata;
  if (method !== undefined && method !== 'none')
    throw new OauthRefusal(
      'invalid_client_metadata',
      'token_endpoint_auth_method: must be "none": clients have no secrets here.',
    );
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > REDIRECT_URIS_MAX)
    throw new OauthRefusal('invalid_redirect_uri', `redirect_uris: must be 1 to ${REDIRECT_URIS_MAX} addresses.`);
  const redirectUris = uris.filter((uri) => typeof uri === 'string');
  if (redirectUris.length < uris.length || !redirectUris.every((uri) => isRedirectUri(uri)))
    throw new OauthRefusal(
      'invalid_redirect_uri',
      'redirect_uris: each must be an https address, or http on localhost, without a fragment.',
    );
  return { name: (typeof name === 'string' ? plainName(name) : '') || usualName, redirectUris };
}

/** A name as plain text: what a person reads is what it is. */
function plainName(name: string): string {
  return name.replaceAll(INVISIBLE, '\u{fffd}').trim().slice(0, NAME_CHARS_MAX).toWellFormed();
}

function freshMsOf(header: string | string[] | undefined): number {
  const [, seconds = '0'] = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(String(header ?? '')) ?? [];
  return Math.min(Math.max(Number(seconds) * 1_000, FRESH_MS_MIN), FRESH_MS_MAX);
}

function refuse(message: string, cause?: unknown): OauthRefusal {
  return new OauthRefusal('invalid_client', message, { cause });
}
