import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConsoleSession } from '../../accounts/console/sessions.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { LiveEvent, LiveHub, LiveRow } from '../../telemetry/live/live-hub.ts';
import { addCounts, countRows, NO_COUNTS } from './live-counts.ts';
import { checkLiveQuery, rowTestOf, type RowTest } from './live-filters.ts';

export interface LiveDeps {
  readonly hub: Pick<LiveHub, 'subscribe' | 'rowsAfter' | 'last'>;
  /** Names the process: numbers of rows of another one mean nothing here. */
  readonly epoch: string;
  /** A process that ends waits for its open responses. */
  readonly draining: () => boolean;
}

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
  const isWanted = rowTestOf(checkLiveQuery(request.url ?? ''));
  const stream = new LiveStream(response, { epoch, sees, isWanted, seesAll: isOperator });
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

interface View {
  readonly epoch: string;
  readonly sees: RowTest;
  /** What it asks for, of what it sees. */
  readonly isWanted: RowTest;
  readonly seesAll: boolean;
}

class LiveStream {
  readonly #response: ServerResponse;
  readonly #view: View;
  #missed = 0;
  #isBehind = false;
  /** Since the last counts that were sent: of a reader that is behind, those of several seconds. */
  #counts = NO_COUNTS;

  constructor(response: ServerResponse, view: View) {
    this.#response = response;
    this.#view = view;
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
    const rows = epoch === this.#view.epoch ? hub.rowsAfter(Number(last)) : undefined;
    if (rows === undefined) this.#send('gap', { missed: null });
    else this.#sendRows(rows, false, hub.last);
  }

  take(event: LiveEvent): void {
    this.#count(event);
    if (this.#isBehind) {
      if (event.kind === 'rows') this.#missed += event.rows.filter((row) => this.#fits(row)).length;
      return;
    }
    if (event.kind === 'rows') this.#sendRows(event.rows, event.isSampled, event.last);
    else if (event.kind === 'counts') this.#sendCounts(event.last);
  }

  #fits(row: LiveRow): boolean {
    return this.#view.sees(row) && this.#view.isWanted(row);
  }

  /** A view that does not see all may not know the counts of all: its own are those of the rows that it sees. */
  #count(event: LiveEvent): void {
    const { seesAll, sees } = this.#view;
    if (seesAll && event.kind === 'counts') this.#counts = addCounts(this.#counts, event.counts);
    if (!seesAll && event.kind === 'rows')
      this.#counts = countRows(this.#counts, event.rows.filter(sees), event.isSampled);
  }

  /** Their id lets a view whose filter fits nothing go on from here, too. */
  #sendCounts(last: number): void {
    this.#send('counts', this.#counts, this.#idOf(last));
    this.#counts = NO_COUNTS;
  }

  #sendRows(rows: readonly LiveRow[], isSampled: boolean, last: number): void {
    const own = rows.filter((row) => this.#fits(row));
    if (own.length > 0) this.#send('rows', { rows: own, sampled: isSampled }, this.#idOf(last));
  }

  #idOf(last: number): string {
    return `${this.#view.epoch}:${last}`;
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
