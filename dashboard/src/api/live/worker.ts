import { isRecord } from '../errors.ts';
import { readServerSentEvents, type ServerSentEvent } from '../sse.ts';
import { filtersOfStream, fitsFilters } from './filters.ts';
import type { LiveFilters, LiveMessage, LiveRow, PageMessage } from './messages.ts';

/**
 * The script of the one worker of all tabs. HTTP/1.1 gives a host six connections: with a stream for each tab the seventh tab
 * would wait for ever.
 */
const LIVE_URL = '/ui/api/live';
const AGAIN_MS = 1_000;
const AGAIN_MS_MAX = 15_000;

const ports = new Map<MessagePort, LiveFilters>();
let token = '';
/** What the stream is filtered by. */
let query = '';
let lastEventId: string | undefined;
let controller: AbortController | undefined;
let isLive = false;
let refusal: number | undefined;

globalThis.addEventListener('connect', (event) => {
  const port = event instanceof MessageEvent ? event.ports[0] : undefined;
  if (port === undefined) return;
  port.addEventListener('message', ({ data }: MessageEvent<PageMessage>) => take(port, data));
  port.start();
});

function take(port: MessagePort, message: PageMessage): void {
  if (message.kind === 'leave') {
    // What is left may ask for less; the stream goes on as it is until another page comes.
    ports.delete(port);
    if (ports.size > 0) return;
    controller?.abort();
    [controller, lastEventId] = [undefined, undefined];
    return;
  }
  ports.set(port, message.filters);
  if (message.token !== token) lastEventId = undefined;
  const isOther = message.token !== token || filtersOfStream([...ports.values()]) !== query;
  token = message.token;
  if (controller === undefined || isOther) restart();
  else send(port, stateOf());
}

/** Opens the stream with the filters of now. It goes on behind the row seen last: no page misses one by it. */
function restart(): void {
  controller?.abort();
  controller = new AbortController();
  query = filtersOfStream([...ports.values()]);
  [isLive, refusal] = [false, undefined];
  void keepOpen(controller.signal);
}

/** Opens the stream again whenever it ends, until no page watches. */
async function keepOpen(signal: AbortSignal): Promise<void> {
  let waitMs = AGAIN_MS;
  while (!signal.aborted) {
    // One stream after the other.
    const wasLive = await followStream(signal);
    if (signal.aborted) return;
    broadcast(stateOf());
    // A session that is over: the page signs in, and watches again.
    if (refusal === 401) {
      controller = undefined;
      return;
    }
    // A filter that the gateway does not take: the page of it fits nothing, and the others go on.
    if (refusal === 400) query = '';
    waitMs = wasLive ? AGAIN_MS : Math.min(AGAIN_MS_MAX, waitMs * 2);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** @returns whether the stream was open */
async function followStream(signal: AbortSignal): Promise<boolean> {
  [isLive, refusal] = [false, undefined];
  try {
    const response = await fetch(LIVE_URL + query, {
      signal,
      cache: 'no-store',
      headers: { 'X-Console-Token': token, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) },
    });
    if (!response.ok || response.body === null) {
      refusal = response.status;
      return false;
    }
    isLive = true;
    broadcast(stateOf());
    for await (const event of readServerSentEvents(response.body)) pass(event);
  } catch {
    // The gateway is away: the next try reports it, and the pages show since when.
  }
  const wasLive = isLive;
  isLive = false;
  return wasLive;
}

function pass({ name, id, data }: ServerSentEvent): void {
  if (id !== undefined) lastEventId = id;
  const value: unknown = JSON.parse(data);
  if (!isRecord(value)) return;
  if (name === 'rows' && Array.isArray(value['rows'])) passRows(value['rows'].filter(isRow), value['sampled'] === true);
  else if (name === 'gap')
    broadcast({ kind: 'gap', missed: typeof value['missed'] === 'number' ? value['missed'] : undefined });
  else if (name === 'counts' && isCounts(value)) broadcast({ kind: 'counts', counts: value });
}

/** Each page gets the rows that fit its filters. */
function passRows(rows: readonly LiveRow[], isSampled: boolean): void {
  for (const [port, filters] of ports) {
    const fitting = rows.filter((row) => fitsFilters(row, filters));
    if (fitting.length > 0 || isSampled) send(port, { kind: 'rows', rows: fitting, isSampled });
  }
}

function isRow(value: unknown): value is LiveRow {
  return isRecord(value) && typeof value['id'] === 'string' && typeof value['created_at'] === 'string';
}

function isCounts(value: unknown): value is Extract<LiveMessage, { kind: 'counts' }>['counts'] {
  return isRecord(value) && typeof value['requests'] === 'number' && typeof value['errors'] === 'number';
}

function stateOf(): LiveMessage {
  return { kind: 'state', isLive, ...(refusal !== undefined && { status: refusal }) };
}

function broadcast(message: LiveMessage): void {
  for (const port of ports.keys()) send(port, message);
}

function send(port: MessagePort, message: LiveMessage): void {
  port.postMessage(message);
}
