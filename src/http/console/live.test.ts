import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as callHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { suite, test, type TestContext } from 'node:test';
import { samplePrincipal } from '../../../tests/support/principal.ts';
import type { LiveRow } from '../../telemetry/live/live-hub.ts';
import type { ConsoleSession } from '../../accounts/console/sessions.ts';
import type { LiveEvent } from '../../telemetry/live/live-hub.ts';
import { openLive, type LiveDeps } from './live.ts';

const ROWS: LiveEvent = { kind: 'rows', rows: [{ id: 'g', api_key_hash: 'k' }], isSampled: false, last: 1 };

/** A hub of one view. */
function openHub() {
  let listener: ((event: LiveEvent) => void) | undefined;
  const owners: (string | undefined)[] = [];
  return {
    owners,
    emit: (event: LiveEvent) => listener?.(event),
    isViewed: () => listener !== undefined,
    hub: {
      last: 1,
      rowsAfter: () => undefined,
      subscribe(given: (event: LiveEvent) => void, owner?: string) {
        listener = given;
        owners.push(owner);
        return () => void (listener = undefined);
      },
    },
  };
}

function sessionOf(role: 'operator' | 'member'): ConsoleSession {
  const row = {
    subjectKind: 'api-key',
    subjectId: 'k',
    id: 's',
    idHash: 'h',
    tokenHash: 't',
    role,
    createdAtMs: 0,
    lastSeenAtMs: 0,
    idleUntilMs: 1,
    endsAtMs: 1,
    userAgent: '',
    addressPrefix: '',
  } as const;
  return { row, role, principal: samplePrincipal() };
}

interface Opened extends ReturnType<typeof openHub> {
  readonly response: IncomingMessage;
  readonly served: ServerResponse;
}

interface Options {
  readonly role?: 'operator' | 'member';
  readonly draining?: () => boolean;
  readonly isValid?: () => Promise<unknown>;
}

async function open(t: TestContext, { role = 'operator', draining, isValid }: Options = {}): Promise<Opened> {
  const opened = openHub();
  const deps: LiveDeps = { hub: opened.hub, epoch: 'e', draining: draining ?? (() => false) };
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  const server = createServer((request, response) => {
    const session = sessionOf(role);
    const sees = (row: LiveRow): boolean => role === 'operator' || row.api_key_hash === session.principal.keyHash;
    openLive(deps, session, request, response, isValid ?? (() => Promise.resolve()), sees);
    resolve(response);
  });
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const sent = callHttp({ port: address.port, host: '127.0.0.1', path: '/ui/api/live' });
  t.after(() => sent.destroy());
  sent.end();
  const [response] = await once(sent, 'response');
  assert.ok(isResponse(response));
  return { ...opened, response: response.resume(), served: await promise };
}

function isResponse(value: unknown): value is IncomingMessage {
  return typeof value === 'object' && value !== null && 'statusCode' in value;
}

suite('a live view', () => {
  test('ends once its session has, and writes nothing behind its end', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const view = await open(t, { isValid: () => Promise.reject(new Error('signed out')) });
    const errors: unknown[] = [];
    view.served.on('error', (error) => errors.push(error));
    t.mock.timers.tick(5_000);
    while (!view.served.writableEnded) await Promise.resolve();
    view.emit(ROWS);
    await once(view.response, 'end');
    assert.deepEqual([errors, view.isViewed()], [[], false]);
  });

  test('writes nothing behind its end while the process drains', async (t) => {
    const view = await open(t, { draining: () => true });
    const errors: unknown[] = [];
    view.served.on('error', (error) => errors.push(error));
    const { emit } = view;
    emit({ kind: 'tick' });
    emit(ROWS);
    emit({ kind: 'tick' });
    await once(view.response, 'end');
    assert.deepEqual([errors, view.isViewed()], [[], false]);
  });

  test('is not opened for a caller that left while its session was looked up', () => {
    const { hub, isViewed } = openHub();
    const request = { url: '/ui/api/live', headers: {} };
    const response = { destroyed: true, on: assert.fail, once: assert.fail, writeHead: assert.fail };
    // Only what the view looks at: a real pair cannot be stopped between its two steps.
    Reflect.apply(openLive, undefined, [
      { hub, epoch: 'e', draining: () => false },
      sessionOf('member'),
      request,
      response,
      () => Promise.resolve(),
    ]);
    assert.equal(isViewed(), false);
  });

  // @spec console-15
  test('is sent what it missed while it was behind: how many rows, and the counts with those of the next second', async (t) => {
    const view = await open(t);
    const received: string[] = [];
    view.response.setEncoding('utf8').on('data', (text: string) => received.push(text));
    const counts = { requests: 2, errors: 1, tokens: 10, cost: 0.1, per: { '2xx': 1, '4xx': 1 } };
    const second: LiveEvent = { kind: 'counts', counts, last: 1 };
    // More than a socket takes at once.
    view.emit({ ...ROWS, rows: [{ id: 'g', api_key_hash: 'k', text: 'x'.repeat(8_000_000) }] });
    assert.equal(view.served.writableNeedDrain, true);
    view.emit(second);
    view.emit(ROWS);
    view.emit(second);
    await once(view.served, 'drain');
    view.emit(second);
    view.served.end();
    await once(view.response, 'end');
    assert.match(received.join(''), /event: gap\ndata: \{"missed":1\}/);
    const [, sent] = /event: counts\n.*\ndata: (.*)/.exec(received.join('')) ?? [];
    assert.deepEqual(JSON.parse(sent ?? ''), {
      requests: 6,
      errors: 3,
      tokens: 30,
      cost: 0.3,
      per: { '2xx': 3, '4xx': 3 },
      sampled: false,
    });
  });

  test('counts as one of the views of its key, unless an operator opened it', async (t) => {
    const [member, operator] = [await open(t, { role: 'member' }), await open(t, { role: 'operator' })];
    assert.deepEqual([member.owners, operator.owners], [['k'], [undefined]]);
  });
});
