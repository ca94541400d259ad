import type { Json } from '../../lib/json.ts';
import { isJsonObject } from '../../lib/json.ts';
import type { HttpClient } from '../../lib/net/http-client.ts';
import type { JsonAnswer } from '../../lib/net/json-call.ts';
import { ValueStoreError, type ValueStore } from './contract.ts';
import { createServerCall } from './hashicorp-call.ts';
import { createTokens, type HashicorpToken } from './hashicorp-token.ts';

export interface HashicorpSettings {
  /** `https://vault.internal:8200`. */
  readonly address: string;
  /** Of the KV engine, version 2. */
  readonly mount: string;
  /** All of the gateway's paths are below it; empty: below the mount. */
  readonly prefix: string;
  readonly namespace?: string | undefined;
  /** Whether the gateway stores values there, too. */
  readonly writes: boolean;
  readonly token: HashicorpToken;
}

const PLACE_CHARS_MAX = 512;
const PLACE = /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*#[A-Za-z0-9_.-]+$/;
const OWN_FIELD = 'value';

/**
 * Values in the KV engine, version 2, of a server that speaks the HTTP API of HashiCorp Vault. A place is `path#field`.
 * @source developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2, read 2026-11
 */
export function createHashicorpStore(settings: HashicorpSettings, http: HttpClient, nowMs: () => number): ValueStore {
  const { mount, prefix } = settings;
  const callServer = createServerCall(settings, http);
  const tokens = createTokens(settings.token, callServer, nowMs);
  const pathOf = (kind: 'data' | 'metadata', place: string): string =>
    [mount, kind, prefix, place.slice(0, place.indexOf('#'))].filter((part) => part !== '').join('/');

  /** With another token where this one is not taken any more. */
  async function call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: Json): Promise<JsonAnswer> {
    const sent = await tokens.get();
    const answer = await callServer(method, path, { token: sent, ...(body !== undefined && { body }) });
    if (answer.status !== 403) return answer;
    const other = await tokens.replace(sent);
    return other === undefined
      ? answer
      : callServer(method, path, { token: other, ...(body !== undefined && { body }) });
  }

  return {
    kind: 'hashicorp',
    faultOf: (place) =>
      place.length <= PLACE_CHARS_MAX && PLACE.test(place) && !/(?:^|\/)\.{1,2}(?:\/|#)/.test(place)
        ? undefined
        : 'must be a path below vault.hashicorp.prefix and a field, as in "team/alpha#key"',
    async get(place) {
      const { status, body } = await call('GET', pathOf('data', place));
      // A version that was deleted is a 404 with its metadata.
      if (status === 404) return undefined;
      requireSuccess(status);
      return fieldOf(body, place.slice(place.indexOf('#') + 1));
    },
    ...(settings.writes && {
      writer: {
        placeOf: ({ kind, id }, name) => `${kind === 'operator' ? 'operator' : `${kind}s/${id}`}/${name}#${OWN_FIELD}`,
        async put(place, value) {
          const data = { [place.slice(place.indexOf('#') + 1)]: value };
          requireSuccess((await call('POST', pathOf('data', place), { data })).status);
        },
        async remove(place) {
          // Without the metadata, versions before this one would stay readable.
          requireSuccess((await call('DELETE', pathOf('metadata', place))).status);
        },
      },
    }),
  };
}

/** @throws ValueStoreError */
function requireSuccess(status: number): void {
  if (status >= 200 && status < 300) return;
  if (status === 403) throw new ValueStoreError("refuses the gateway's token, or what its policies allow (403)");
  if (status === 503) throw new ValueStoreError('is sealed or under maintenance (503)');
  if (status >= 300 && status < 400)
    throw new ValueStoreError(
      `answers with ${status}, which is not followed: name the active server, or one that forwards`,
    );
  throw new ValueStoreError(`answers with ${status}`);
}

/** @throws ValueStoreError for what is no text */
function fieldOf(body: Json | undefined, field: string): string | undefined {
  const outer = isJsonObject(body) ? body['data'] : undefined;
  const data = isJsonObject(outer) ? outer['data'] : undefined;
  if (!isJsonObject(data))
    throw new ValueStoreError('answers without data: vault.hashicorp.mount must be a KV engine of version 2');
  const value = Object.hasOwn(data, field) ? data[field] : undefined;
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new ValueStoreError('has no text in that field');
  return value;
}
