import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { createSpool, type SpooledFile } from '../../lib/files/spool.ts';
import { createBodyBudget, type BodyBudget } from '../body-budget.ts';
import { readFormBody, type FormRules } from './read-form-body.ts';

const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const folder = join(tmpdir(), `form-${process.pid}`);
const RULES: FormRules = { filesMax: 2, fileBytesMax: 600_000, fileFields: new Set(['file', 'image']) };

interface Setup {
  readonly rules?: Partial<FormRules>;
  readonly spoolBytesMax?: number;
  readonly budget?: BodyBudget;
  readonly idleMs?: number;
}

type Outcome =
  | {
      readonly fields: Readonly<Record<string, readonly string[]>>;
      readonly files: readonly (readonly [string, Buffer])[];
    }
  | { readonly status: number; readonly message: string; readonly paths: readonly string[] };

/** What comes of a form that is sent over a real socket. */
async function receive(
  send: (url: string) => unknown,
  { rules, spoolBytesMax, budget = createBodyBudget(100_000_000), idleMs = 5_000 }: Setup = {},
): Promise<Outcome> {
  const outcome = Promise.withResolvers<Outcome>();
  const spool = createSpool(folder, spoolBytesMax);
  const server = createServer((request, response) => {
    const share = budget.open('key');
    readFormBody(request, { ...RULES, ...rules }, { spool, idleMs, totalMs: 5_000 }, share)
      .then(async ({ fields, files }) => {
        const contents = await Promise.all(files.map(async ({ field, file }) => [field, await readAll(file)] as const));
        for (const { file } of files) file.close();
        return { fields: Object.fromEntries(fields), files: contents };
      })
      .catch((error: unknown) => {
        if (!(error instanceof GatewayError)) throw error;
        return { status: error.status, message: error.message, paths: (error.issues ?? []).map(({ path }) => path) };
      })
      .then(outcome.resolve, outcome.reject)
      .finally(() => {
        share.release();
        response.shouldKeepAlive = false;
        response.end();
      });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const result = await outcome.promise;
  // Files of a form that failed are closed a moment later, when their writes have ended.
  for (let tries = 0; spool.bytes > 0 && tries < 100; tries++) await new Promise(setImmediate);
  assert.equal(spool.bytes, 0, 'nothing stays in the spool');
  return result;
}

async function readAll(file: SpooledFile): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const post =
  (form: FormData) =>
  (url: string): void => {
    fetch(url, { method: 'POST', body: form }).then(
      (response) => response.body?.cancel(),
      () => undefined,
    );
  };

const file = (bytes: number): Blob => new Blob([Buffer.alloc(bytes, 'x')]);

function formOf(...parts: readonly (readonly [string, string | Blob])[]): FormData {
  const form = new FormData();
  for (const [name, value] of parts)
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, 'name.bin');
  return form;
}

// @spec request-34
test('reads fields and files in any order, small files and large ones', async () => {
  const parts = [
    ['file', file(500_000)],
    ['model', 'a/b'],
    ['list[]', 'x'],
    ['list[]', 'y'],
    ['image[0]', file(3)],
  ] as const;
  assert.deepEqual(await receive(post(formOf(...parts))), {
    fields: { model: ['a/b'], list: ['x', 'y'] },
    files: [
      ['file', Buffer.alloc(500_000, 'x')],
      ['image', Buffer.alloc(3, 'x')],
    ],
  });
});

const refusals: readonly (readonly [string, FormData, Setup, number, readonly string[]])[] = [
  ['a file over its limit', formOf(['file', file(700_000)]), {}, 413, ['file']],
  ['a file too many', formOf(['file', file(1)], ['file', file(1)], ['file', file(1)]), {}, 400, ['file']],
  ['a file in place of a text', formOf(['model', file(1)]), {}, 400, ['model']],
  ['a text over its limit', formOf(['prompt', 'x'.repeat(1_048_577)]), {}, 400, ['prompt']],
  ['a name over its limit', formOf(['n'.repeat(201), 'x']), {}, 400, []],
  ['too many fields', formOf(...Array.from({ length: 63 }, (_, at) => [`f${at}`, 'x'] as const)), {}, 400, []],
  [
    'fields over the limit of all',
    formOf(...Array.from({ length: 9 }, (_, at) => [`f${at}`, 'x'.repeat(1_000_000)] as const)),
    { rules: { fileBytesMax: 10_000_000 } },
    413,
    [],
  ],
  ['files beyond the room of the spool', formOf(['file', file(500_000)]), { spoolBytesMax: 400_000 }, 503, []],
  ['files beyond the memory', formOf(['file', file(500_000)]), { budget: createBodyBudget(100) }, 503, []],
  ['fields beyond the memory', formOf(['prompt', 'x'.repeat(1_000_000)]), { budget: createBodyBudget(100) }, 503, []],
];
// @spec request-35
for (const [name, form, setup, status, paths] of refusals)
  test(`refuses ${name} with ${status}`, async () => {
    const outcome = await receive(post(form), setup);
    assert.ok('status' in outcome, 'it is refused');
    assert.equal(outcome.status, status, outcome.message);
    assert.deepEqual(outcome.paths, paths);
  });

const HEAD = ['POST / HTTP/1.1', 'host: x', 'content-type: multipart/form-data; boundary=b'];

/** Writes a form by hand. */
const write =
  (use: (socket: Socket) => void, ...headers: readonly string[]) =>
  (url: string): void => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write([...HEAD, ...headers, '', ''].join('\r\n'));
    use(socket);
  };

const PART = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc';
const CASES: readonly (readonly [string, (url: string) => void, number])[] = [
  ['that breaks off', write((socket) => socket.end(PART), 'content-length: 1000'), 400],
  ['that ends within a part', write((socket) => socket.write(PART), `content-length: ${PART.length}`), 400],
  ['that stands still', write((socket) => socket.write(PART), 'content-length: 1000'), 408],
  ['that is larger than allowed by its own word', write(() => undefined, 'content-length: 20000000'), 413],
  ['that is compressed', write(() => undefined, 'content-length: 10', 'content-encoding: gzip'), 400],
];
for (const [name, send, status] of CASES)
  test(`refuses a form ${name} with ${status}`, async () => {
    const outcome = await receive(send, { idleMs: 50 });
    assert.ok('status' in outcome, 'it is refused');
    assert.equal(outcome.status, status, outcome.message);
  });

test('refuses a part without a name', async () => {
  const text = '--b\r\ncontent-disposition: form-data\r\n\r\nabc\r\n--b--\r\n';
  const outcome = await receive(write((socket) => socket.write(text), `content-length: ${text.length}`));
  assert.ok('status' in outcome);
  assert.equal(outcome.status, 400);
});
