import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

const BODY_BYTES_MAX = 64 * 1_024 * 1_024;

/** The whole body of a request. @throws Refusal 413, AbortError when the caller hangs up first */
export function readBody(request: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onAbort = (): void => reject(new DOMException('The caller hung up', 'AbortError'));
    signal.addEventListener('abort', onAbort, { once: true });
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES_MAX) {
        chunks.push(chunk);
        return;
      }
      // What still comes is thrown away, so that the caller gets to read the answer.
      chunks.length = 0;
      reject(new Refusal(413, `The request is larger than ${BODY_BYTES_MAX} bytes.`));
    });
    request.once('error', reject);
    request.once('end', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(Buffer.concat(chunks));
    });
  });
}
