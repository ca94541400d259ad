import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Frame } from './answer-parts.ts';
import type { Fault, Script } from './script.ts';

/** Frames that come without a pause are written in bundles of about so many characters. */
const BUNDLE_CHARS = 4_096;
/** A stalled answer is given up then, should its caller never hang up. */
const STALL_MS_MAX = 15 * 60_000;

export interface Delivery {
  readonly response: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
  /** Drops the connection on purpose, behind what was written so far. */
  readonly breakOff: () => void;
  /** How the format says an error in the middle of a stream. */
  readonly encodeStreamError: (status: number) => string;
}

/** Streams an answer at the script's pace, and breaks it where the script says so. @throws AbortError */
export async function deliverStream(delivery: Delivery, frames: Iterable<Frame>, script: Script): Promise<void> {
  const { response, headers, signal } = delivery;
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...headers,
  });
  const fault = script.fault?.kind === 'status' ? undefined : script.fault;
  let bundle = '';
  let tokens = 0;
  for (const frame of frames) {
    const strikes = frame.kind === 'token' ? tokens === fault?.afterTokens : frame.kind === 'end';
    if (fault !== undefined && strikes) {
      await write(response, bundle, signal);
      return strike(delivery, fault);
    }
    if (frame.kind === 'token') {
      const pauseMs = tokens++ === 0 ? script.firstTokenMs : script.everyMs;
      if (pauseMs > 0) {
        await write(response, bundle, signal);
        bundle = '';
        await sleep(pauseMs, undefined, { signal });
      }
    }
    bundle += frame.text;
    if (bundle.length < BUNDLE_CHARS) continue;
    await write(response, bundle, signal);
    bundle = '';
  }
  response.end(bundle);
}

/** Sends a whole answer after the time that its tokens take, and breaks it where the script says so. @throws AbortError */
export async function deliverWhole(delivery: Delivery, body: string, script: Script): Promise<void> {
  const { response, headers, signal } = delivery;
  const { fault } = script;
  if (fault?.kind === 'stall') return stall(delivery);
  const pauseMs = script.firstTokenMs + script.everyMs * Math.max(0, script.completionTokens - 1);
  if (pauseMs > 0) await sleep(pauseMs, undefined, { signal });
  const bytes = Buffer.from(body, 'utf8');
  const length = { 'content-type': 'application/json', 'content-length': String(bytes.length) };
  response.writeHead(200, { ...length, ...headers });
  if (fault?.kind !== 'cut') {
    response.end(bytes);
    return;
  }
  // More was promised than comes.
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)));
  delivery.breakOff();
}

async function strike(delivery: Delivery, fault: Exclude<Fault, { kind: 'status' }>): Promise<void> {
  if (fault.kind === 'stall') return stall(delivery);
  if (fault.kind === 'cut') return delivery.breakOff();
  delivery.response.end(delivery.encodeStreamError(fault.status));
}

/** Says nothing more until the caller gives up. */
async function stall({ signal, breakOff }: Delivery): Promise<void> {
  await sleep(STALL_MS_MAX, undefined, { signal });
  breakOff();
}

async function write(response: ServerResponse, chunk: string | Uint8Array, signal: AbortSignal): Promise<void> {
  if (chunk.length === 0) {
    response.flushHeaders();
    return;
  }
  if (!response.write(chunk)) await once(response, 'drain', { signal });
}
