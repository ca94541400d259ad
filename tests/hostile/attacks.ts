import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { brotliCompressSync, deflateSync } from 'node:zlib';

/** What an attack is made on, and with which key. */
export interface Target {
  /** Where the gateway listens: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** A valid key that is not that of the well-behaved caller. */
  readonly key: string;
  /** A model that answers with 8 MB at once. */
  readonly largeModel: string;
}

/** One hostile load. It ends when its connections have ended, or when `signal` aborts. */
export interface Attack {
  readonly name: string;
  readonly connections: number;
  /** Statuses that it may get. 0: the connection was closed without one. */
  readonly statuses: readonly number[];
  /** Of these at least one must come. */
  readonly expected: readonly number[];
  readonly send: (socket: Socket, target: Target, index: number) => void;
  /** Reads nothing of what comes. */
  readonly isStalled?: boolean;
  /** How many requests of a key may be under way; absent: as many as it likes. */
  readonly concurrent?: number;
}

export interface AttackOutcome {
  /** How often each status came. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Answers 429 and 503 that do not say when to come again. */
  readonly withoutRetryAfter: number;
}

const MB = 1_048_576;
const BATCH = 250;

export async function runAttack(attack: Attack, target: Target, signal: AbortSignal): Promise<AttackOutcome> {
  const statuses = new Map<number, number>();
  let withoutRetryAfter = 0;
  const ended: Promise<void>[] = [];
  const note = (head: string): undefined => {
    const status = Number(head.split(' ')[1] ?? 0);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if ((status === 429 || status === 503) && !/\r\nretry-after: \d/i.test(head)) withoutRetryAfter++;
  };
  for (let index = 0; index < attack.connections && !signal.aborted; index++) {
    ended.push(openOne(attack, target, index, signal).then(note));
    // As fast as a machine connects, and without keeping this process from the others' work.
    if (index % BATCH === BATCH - 1) await wait(20);
  }
  await Promise.all(ended);
  return { statuses, withoutRetryAfter };
}

/** The head of the answer, as far as it came. */
function openOne(attack: Attack, target: Target, index: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(target.url);
    const socket = connect(Number(port), hostname);
    let head = '';
    const stop = (): void => void socket.destroy();
    signal.addEventListener('abort', stop, { once: true });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      signal.removeEventListener('abort', stop);
      resolve(head);
    });
    if (attack.isStalled === true) socket.pause();
    else
      socket.on('data', (chunk: Buffer) => {
        if (head.length < 4_096) head += chunk.toString('latin1', 0, 4_096);
        // A whole answer came; the rest of the body that was announced is never sent.
        if (head.includes('\r\n\r\n')) setTimeout(stop, 1_000).unref();
      });
    attack.send(socket, target, index);
  });
}

function headOf(line: string, ...headers: readonly string[]): string {
  return [`${line} HTTP/1.1`, 'Host: gateway.test', ...headers, '', ''].join('\r\n');
}

function post(socket: Socket, { key }: Target, body: Buffer | string, ...headers: readonly string[]): void {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  socket.write(headOf('POST /v1/chat/completions', `Authorization: Bearer ${key}`, length, ...headers));
  socket.write(body);
}

const PUBLIC_ROUTES = ['/v1/auth/keys', '/v1/credits/coinbase', '/nope', '/v1/models'];

function halfOf(bytes: number, index: number): string {
  const path = PUBLIC_ROUTES[index % PUBLIC_ROUTES.length] ?? '/nope';
  const method = path === '/v1/models' ? 'GET' : 'POST';
  return `${headOf(`${method} ${path}`, `Content-Length: ${bytes}`)}${'x'.repeat(Math.floor(bytes / 2))}`;
}

/** Larger than any body that is taken without a key. */
function sendHalfLargeBody(socket: Socket, _target: Target, index: number): void {
  socket.write(halfOf(500_000, index));
}

/** As small as honest ones, so that only waiting distinguishes them. */
function sendHalfSmallBody(socket: Socket, _target: Target, index: number): void {
  socket.write(halfOf(400, index));
}

function sendHalfKeyedBody(socket: Socket, { key }: Target): void {
  const authorization = `Authorization: Bearer ${key}`;
  socket.write(headOf('POST /v1/chat/completions', authorization, 'Content-Length: 4000000'));
  socket.write(Buffer.alloc(3_900_000, ' '));
}

function sendHalfHeaders(socket: Socket): void {
  socket.write(`GET /v1/models HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(31 * 1_024)}`);
}

/** All but the end of 31 MB, in a hundred bytes. */
const bomb = brotliCompressSync(Buffer.alloc(31 * MB, ' '));

function sendBomb(socket: Socket, { key }: Target): void {
  const length = `Content-Length: ${bomb.length + 9}`;
  socket.write(headOf('POST /v1/chat/completions', `Authorization: Bearer ${key}`, 'Content-Encoding: br', length));
  socket.write(bomb);
}

/** A page whose content unpacks twice to a gigabyte of blanks, in some 2 KB. */
let pdf: string | undefined;

function makePdf(): string {
  const layer = deflateSync(Buffer.alloc(1_000 * MB, ' '), { level: 9 });
  const content = deflateSync(layer, { level: 9 });
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << >> >>',
    `<< /Length ${content.length} /Filter [/FlateDecode /FlateDecode] >>\nstream\n${content.toString('latin1')}\nendstream`,
  ];
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('');
  const bytes = Buffer.from(`%PDF-1.4\n${body}trailer << /Root 1 0 R /Size 5 >>\n%%EOF\n`, 'latin1');
  return bytes.toString('base64');
}

function sendPdf(socket: Socket, target: Target, index: number): void {
  pdf ??= makePdf();
  const file = { filename: `${index}.pdf`, file_data: `data:application/pdf;base64,${pdf}` };
  const content = [
    { type: 'text', text: 'What does it say?' },
    { type: 'file', file },
  ];
  const plugins = [{ id: 'file-parser', pdf: { engine: 'cloudflare-ai' } }];
  post(socket, target, JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content }], plugins }));
}

const wideArray = Buffer.from(`{"model":"sandbox/echo","messages":[${'{},'.repeat(2_600_000)}{}]}`);
const wideObject = Buffer.from(
  `{"model":"sandbox/echo","messages":[],"x":{${Array.from({ length: 400_000 }, (_, name) => `"${name}":1`).join(',')}}}`,
);

function sendWide(socket: Socket, target: Target, index: number): void {
  post(socket, target, index % 2 === 0 ? wideArray : wideObject);
}

function askLarge(socket: Socket, target: Target): void {
  const messages = [{ role: 'user', content: 'Say much.' }];
  post(socket, target, JSON.stringify({ model: target.largeModel, messages }));
}

function askStream(model: string): Attack['send'] {
  const messages = [{ role: 'user', content: 'Say much.' }];
  return (socket, target) => post(socket, target, JSON.stringify({ model, messages, stream: true }));
}

/** Each has a page of 10 MB read whose end never comes. */
function askForPage(socket: Socket, target: Target): void {
  const messages = [{ role: 'user', content: 'What does it say?' }];
  const tools = [{ type: 'service:web_fetch' }];
  post(socket, target, JSON.stringify({ model: 'acme/fetching', messages, tools }));
}

/** The file is small; what the service that reads it answers is not. */
function askForScan(socket: Socket, target: Target, index: number): void {
  const data = Buffer.from(`%PDF-1.4\n${index}\n%%EOF\n`).toString('base64');
  const file = { filename: `${index}.pdf`, file_data: `data:application/pdf;base64,${data}` };
  const content = [
    { type: 'text', text: 'What does it say?' },
    { type: 'file', file },
  ];
  const plugins = [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }];
  post(socket, target, JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content }], plugins }));
}

function askList(socket: Socket): void {
  socket.write(headOf('GET /v1/models'));
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'half bodies',
    connections: 2_000,
    statuses: [0, 200, 404, 410, 413],
    expected: [413],
    send: sendHalfLargeBody,
  },
  {
    name: 'half bodies of a few bytes',
    connections: 1_000,
    statuses: [0, 200, 404, 408, 410],
    expected: [408],
    send: sendHalfSmallBody,
  },
  {
    name: 'half bodies with a key',
    connections: 100,
    statuses: [0, 408, 503],
    expected: [503],
    send: sendHalfKeyedBody,
  },
  { name: 'half headers', connections: 2_000, statuses: [0, 408], expected: [408], send: sendHalfHeaders },
  { name: 'inflated bodies', connections: 60, statuses: [0, 400, 408, 413, 503], expected: [413, 503], send: sendBomb },
  { name: 'wide JSON', connections: 40, statuses: [400, 503], expected: [400], send: sendWide },
  { name: 'PDFs', connections: 12, statuses: [200, 400, 413, 503], expected: [400, 413, 503], send: sendPdf },
  { name: 'stalled readers', connections: 40, statuses: [0], expected: [0], send: askLarge, isStalled: true },
  {
    name: 'stalled readers of a list',
    connections: 1_000,
    statuses: [0],
    expected: [0],
    send: askList,
    isStalled: true,
  },
  {
    name: 'stalled readers of streams',
    connections: 2_000,
    statuses: [0],
    expected: [0],
    send: askStream('acme/flowing'),
    isStalled: true,
  },
  {
    name: 'streams whose upstream compresses them',
    connections: 100,
    statuses: [0, 200, 503],
    expected: [200, 503],
    send: askStream('acme/packed'),
  },
  { name: 'pages without an end', connections: 100, statuses: [0, 200, 503], expected: [200], send: askForPage },
  { name: 'long texts of scans', connections: 40, statuses: [0, 200, 503], expected: [503], send: askForScan },
  {
    name: 'more requests than a key may have under way',
    connections: 200,
    statuses: [200, 429, 503],
    expected: [429],
    send: askLarge,
    concurrent: 4,
  },
  { name: 'silent connections', connections: 2_000, statuses: [0, 408], expected: [0, 408], send: () => undefined },
];
