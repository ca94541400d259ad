import { findGatewayUrl } from '../../config/gateway-url.ts';
import { readSecretVariable } from '../../config/secret-file.ts';
import { createHttpClient, TransportError } from '../../lib/net/http-client.ts';
import { isJsonObject, parseJson, type JsonObject } from '../../lib/json.ts';
import { CommandError, UsageError, type Io } from '../command.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const BYTES_MAX = 64 * 1_024 * 1_024;

/** What is sent beside a path. */
export interface Sent {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: JsonObject | { readonly contentType: string; readonly bytes: Uint8Array };
}

/** Calls the management API of a running gateway. */
export interface GatewayClient {
  /** @throws CommandError with the sentence of a refusal */
  call(path: string, sent?: Sent): Promise<JsonObject>;
  /** The same with its status, whatever that is. */
  request(path: string, sent?: Sent): Promise<{ readonly status: number; readonly answer: JsonObject }>;
  close(): Promise<void>;
}

/** @throws UsageError without a key, or with another URL than one of HTTP */
export function openGatewayClient(
  { url: given, key: named, config }: { readonly url?: string; readonly key?: string; readonly config?: string },
  io: Pick<Io, 'env'>,
  command: string,
): GatewayClient {
  const key = named ?? readSecretVariable(io.env, 'GATEWAY_MANAGEMENT_KEY');
  if (key === undefined || key === '')
    throw new UsageError(`${command}: give a management key with --key or in GATEWAY_MANAGEMENT_KEY`);
  const url = URL.parse(given ?? findGatewayUrl(config, io.env));
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UsageError(`--url: must be an http:// or https:// URL, not ${JSON.stringify(given)}`);
  const base = url.pathname.replace(/\/(?:v1\/?)?$/, '');
  const client = createHttpClient();
  const request: GatewayClient['request'] = async (path, { method = 'GET', body } = {}) => {
    const form = body !== undefined && body['bytes'] instanceof Uint8Array ? body : undefined;
    const type = form?.['contentType'];
    try {
      const inbound = await client.call({
        origin: url.origin,
        path: `${base}/v1${path}`,
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': typeof type === 'string' ? type : 'application/json' }),
        },
        ...(body !== undefined && {
          body: body['bytes'] instanceof Uint8Array ? body['bytes'] : JSON.stringify(body),
        }),
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
      }).answer;
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for (let chunk = await inbound.read(); chunk !== undefined && bytes <= BYTES_MAX; chunk = await inbound.read()) {
        chunks.push(chunk);
        bytes += chunk.length;
      }
      const answer = parseJson(Buffer.concat(chunks).toString('utf8'));
      return { status: inbound.status, answer: isJsonObject(answer) ? answer : {} };
    } catch (cause) {
      if (!(cause instanceof TransportError)) throw cause;
      throw new CommandError(`No gateway responds at ${url.origin}.`, { cause });
    }
  };
  return {
    request,
    async call(path, sent) {
      const { status, answer } = await request(path, sent);
      if (status < 300) return answer;
      const { error } = answer;
      const message = isJsonObject(error) ? error['message'] : undefined;
      throw new CommandError(typeof message === 'string' ? message : `The gateway answered with status ${status}.`);
    },
    close: () => client.close(),
  };
}
