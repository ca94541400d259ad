import type { Json } from '../../lib/json.ts';
import type { HttpClient } from '../../lib/net/http-client.ts';
import { callJson, JsonCallError, type JsonAnswer } from '../../lib/net/json-call.ts';
import { ValueStoreError } from './contract.ts';

/** One call of the server's API, below `/v1/`. @throws ValueStoreError when there is no response */
export type CallServer = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  options?: { readonly token?: string; readonly body?: Json },
) => Promise<JsonAnswer>;

const CALL_MS_MAX = 5_000;
const ANSWER_BYTES_MAX = 1_048_576;

export function createServerCall(
  { address, namespace }: { readonly address: string; readonly namespace?: string | undefined },
  http: HttpClient,
): CallServer {
  const base = address.replace(/\/+$/, '');
  return async (method, path, { token, body } = {}) => {
    try {
      return await callJson(
        http,
        {
          method,
          url: new URL(`${base}/v1/${path}`),
          headers: {
            // Agents of the server refuse calls without it, so that no web page can make them.
            'x-vault-request': 'true',
            ...(token !== undefined && { 'x-vault-token': token }),
            ...(namespace !== undefined && { 'x-vault-namespace': namespace }),
          },
          body,
        },
        { timeoutMs: CALL_MS_MAX, bytesMax: ANSWER_BYTES_MAX },
        new AbortController().signal,
      );
    } catch (error) {
      if (error instanceof JsonCallError) throw new ValueStoreError(error.message, { cause: error });
      throw error;
    }
  };
}
