import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConsoleSession } from '../../accounts/console/sessions.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { LiveEvent, LiveHub, LiveRow } from '../../telemetry/live/live-hub.ts';

export interface LiveDeps {
  readonly hub: Pick<LiveHub, 'subscribe' | 'rowsAfter' | 'last'>;
  /** Names the process: numbers of rows of another one mean nothing here. */
  readonly epoch: string;
  /** A process that ends waits for its open responses. */
  readonly draining: () => boolean;
}

/** Members of rows that a view can ask for, by the parameter of the query. */
const FILTERS: Readonly<Record<string, string>> = {
  key: 'api_key_hash',
  workspace: 'workspace_id',
  model: 'model',
  provider: 'provider_name',
  session: 'session_id',
};
const RETRY_MS = 1_000;
/** A session that has ended sees no more than this. */
const CHECK_MS = 5_000;

/**
 * `GET /ui/api/live`: an event stream of what happens. A reader that is behind gets nothing until it has caught up, and then
 * how many rows it missed: nothing waits for it in memory. @spec console-15
 * @param isValid rejects once the session has ended
 * @param sees what the session may see, whatever it asks for
 */
export function openLive(
  { hub, epoch, draining }: LiveDeps,
  session: ConsoleSession,
  request: IncomingMessage,
  response: ServerResponse,
  isValid: () => Promise<unknown>,
  sees: (row: LiveRow) => boolean,
): void {
  // The caller left while its session was looked up: `close` has passed, and nothing would end the view.
  if (response.destroyed) return;
  const isOperator = session.role === 'operator';
  const fits = filterOf(new URLSearchParams((request.url ?? '').split('?', 2)[1] ?? ''), sees);
  const stream = new LiveStream(response, epoch, fits, isOperator);
  const leave = hub.subscribe(
    (event) => {
      if (event.kind === 'tick' && draining()) end();
      else stream.take(event);
    },
    isOperator ? undefined : session.row.subjectId,
  );
  if (leave === undefined)
    throw new GatewayError('rate_limit_exceeded', 'Too many live views are open. Close one, or look again later.', {
      retryAfterMs: RETRY_MS,
    });
  const timer = setInterval(() => void isValid().catch(end), CHECK_MS).unref();
  function end(): void {
    clearInterval(timer);
    leave?.();
    stream.end();
  }
  response.once('close', end);
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  stream.open(RETRY_MS);
  stream.resume(hub, request.headers['last-event-id']);
}

type Fits = (row: LiveRow) => boolean;

function filterOf(query: URLSearchParams, sees: Fits): Fits {
  const wanted = Object.entries(FILTERS).flatMap(([name, member]) => {
    const value = query.get(name);
    return value === null ? [] : [[member, value] as const];
  });
  const status = query.get('status');
  return (each) =>
    sees(each) &&
    wanted.every(([member, value]) => isText(each[member], value)) &&
    (status === null || isStatus(Number(each['status']), status));
}

function isText(value: unknown, wanted: string): boolean {
  if (typeof value !== 'string') return false;
  return wanted.endsWith('*') ? value.startsWith(wanted.slice(0, -1)) : value === wanted;
}

function isStatus(status: number, wanted: string): boolean {
  if (wanted === 'error') return status >= 400;
  return /^\dxx$/.test(wanted) ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted);
}

class LiveStream {
  readonly #response: ServerResponse;
  readonly #epoch: string;
  readonly #fits: Fits;
  readonly #seesAll: boolean;
  #missed = 0;
  #isBehind = false;

  constructor(response: ServerResponse, epoch: string, fits: Fits, seesAll: boolean) {
    this.#response = response;
    this.#epoch = epoch;
    this.#fits = fits;
    this.#seesAll = seesAll;
    response.on('drain', () => this.#caughtUp());
  }

  open(retryMs: number): void {
    this.#write(`retry: ${retryMs}\n\n`);
  }

  end(): void {
    this.#response.end();
  }

  /** Sends what the browser missed since the row that it saw last, or that it is not known any more. */
  resume(hub: Pick<LiveHub, 'rowsAfter' | 'last'>, lastEventId: string | string[] | undefined): void {
    if (typeof lastEventId !== 'string') return;
    const [, epoch, last] = /^([\w-]+):(\d+)$/.exec(lastEventId) ?? [];
    const rows = epoch === this.#epoch ? hub.rowsAfter(Number(last)) : undefined;
    if (rows === undefined) this.#send('gap', { missed: null });
    else this.#sendRows(rows, false, hub.last);
  }

  take(event: LiveEvent): void {
    if (this.#isBehind) {
      if (event.kind === 'rows') this.#missed += event.rows.filter(this.#fits).length;
      return;
    }
    if (event.kind === 'rows') this.#sendRows(event.rows, event.isSampled, event.last);
    // Counts are of all keys.
    else if (event.kind === 'counts' && this.#seesAll) this.#send('counts', event.counts);
    else if (event.kind === 'tick' && !this.#seesAll) this.#write(': \n\n');
  }

  #sendRows(rows: readonly LiveRow[], isSampled: boolean, last: number): void {
    const own = rows.filter(this.#fits);
    if (own.length > 0) this.#send('rows', { rows: own, sampled: isSampled }, `${this.#epoch}:${last}`);
  }

  #send(event: string, data: object, id?: string): void {
    this.#write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
  }

  #write(text: string): void {
    // A write after the end is an error that nothing would catch.
    if (this.#response.destroyed || this.#response.writableEnded) return;
    if (!this.#response.write(text)) this.#isBehind = true;
  }

  #caughtUp(): void {
    this.#isBehind = false;
    const missed = this.#missed;
    this.#missed = 0;
    if (missed > 0) this.#send('gap', { missed });
  }
}
