import type { Cancellation } from '../../../lib/async/cancellation.ts';
import type { ByteBudget } from '../../../lib/memory/byte-budget.ts';
import { GrowingBytes } from '../../../lib/memory/growing-bytes.ts';
import type { Download } from '../../../lib/net/download.ts';
import type { HttpClient } from '../../../lib/net/http-client.ts';
import type { CallContext, Provider } from '../../../providers/contract.ts';
import { addressOf } from '../../attempt/call-upstream.ts';

export interface FetchResultDeps {
  readonly http: HttpClient;
  readonly download: Download;
  /** Of the files of all requests together. */
  readonly fileMemory: ByteBudget;
}

interface ResultSource {
  readonly provider: Provider;
  readonly context: CallContext;
  readonly cancellation: Cancellation;
}

const BYTES_MAX = 67_108_864;
const TIMEOUT_MS = 60_000;

/**
 * Fetches a picture of which an upstream gave the address. Its own host may be in the operator's network, and gets its
 * credential; every other one has to be on the public Internet, and gets none, as no redirect does.
 * @throws what went wrong, whatever it is: the picture cannot be had
 */
export async function fetchResult(deps: FetchResultDeps, url: string, source: ResultSource): Promise<Buffer> {
  const { cancellation, provider } = source;
  const memory = new GrowingBytes(deps.fileMemory, cancellation.signal);
  try {
    const address = new URL(url);
    if (address.origin === addressOf(provider).origin) return await fetchOwn(deps, address, source, memory);
    const limits = { bytesMax: BYTES_MAX, timeoutMs: TIMEOUT_MS, memory };
    return (await deps.download(url, limits, cancellation.signal)).bytes;
  } finally {
    memory.close();
  }
}

async function fetchOwn(
  { http }: FetchResultDeps,
  address: URL,
  { provider, context, cancellation }: ResultSource,
  memory: GrowingBytes,
): Promise<Buffer> {
  const { settings } = provider;
  const outgoing = { ...context, method: 'GET' as const, url: address.href, headers: {}, body: '' };
  const headers = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
    ...settings.headers,
    ...(await provider.authorize(outgoing)),
  };
  const path = address.pathname + address.search;
  const { connectMs: connectTimeoutMs } = settings.timeouts;
  const call = http.call({ origin: address.origin, path, method: 'GET', headers, connectTimeoutMs });
  const cancel = (): void => call.cancel();
  cancellation.onAbort(cancel);
  const timer = setTimeout(cancel, TIMEOUT_MS);
  try {
    const answer = await call.answer;
    if (answer.status !== 200) throw new Error(`the picture's address answers with status ${answer.status}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
      bytes += chunk.length;
      if (bytes > BYTES_MAX) throw new RangeError('The picture is too large.');
      await memory.hold(2 * bytes);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    call.cancel();
    throw error;
  } finally {
    clearTimeout(timer);
    cancellation.offAbort(cancel);
  }
}
