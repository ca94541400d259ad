// A model provider reduced to precomputed bytes: raw node:net, no HTTP stack, no JSON, so that one core serves several
// times the load of a proxy. Started by run.ts; prints its address like the servers under test.
import { createServer, type Socket } from 'node:net';

import { listenAndAnnounce } from './announce.ts';
import type { MockFormat } from './mock-formats.ts';
import { type MockScript, writeScript } from './mock-script.ts';

const HEAD_BYTES_MAX = 64 * 1024;
const BODY_BYTES_MAX = 16 * 1024 * 1024;
const SCRIPTS_MAX = 64;
const NOT_FOUND = Buffer.from(
  'HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
);
const MODEL_KEY = Buffer.from('"model":"');

const scripts = new Map<string, MockScript | undefined>();

/** Longer endings first. */
const FORMAT_OF_PATH: readonly (readonly [RegExp, MockFormat])[] = [
  [/\/chat\/completions$/, 'chat'],
  [/\/messages$/, 'messages'],
  [/\/models\/([^/]+):streamGenerateContent\?alt=sse$/, 'gemini'],
  [/\/model\/([^/]+)\/converse-stream$/, 'converse'],
  [/\/responses$/, 'responses'],
  [/\/chat$/, 'cohere'],
];

/** @param modelOfBody some formats name the model in the path instead */
function findScript(path: string, modelOfBody: string): MockScript | undefined {
  const [pattern, format] = FORMAT_OF_PATH.find(([ending]) => ending.test(path)) ?? [];
  if (format === undefined) return undefined;
  const model = pattern?.exec(path)?.[1] ?? modelOfBody;
  const key = `${format} ${model}`;
  const known = scripts.get(key);
  if (known !== undefined || scripts.size >= SCRIPTS_MAX) return known;
  const script = writeScript(format, model);
  scripts.set(key, script);
  return script;
}

/** A stream on its way: the ordinal of its next write. */
interface Stream {
  readonly socket: Socket;
  readonly script: MockScript;
  next: number;
}

// A burst writes once a turn of the event loop for each stream, so that streams interleave as they would from a busy provider.
const bursts = new Set<Stream>();
let burstScheduled = false;

function scheduleBursts(): void {
  if (burstScheduled) return;
  burstScheduled = true;
  setImmediate(writeBursts);
}

function writeBursts(): void {
  burstScheduled = false;
  for (const stream of bursts) {
    if (stream.socket.destroyed) bursts.delete(stream);
    else if (!writeNext(stream)) bursts.delete(stream);
  }
  if (bursts.size > 0) scheduleBursts();
}

/** False when the stream must not be written to now: it ended, or its socket is full and 'drain' brings it back. */
function writeNext(stream: Stream): boolean {
  const bytes = stream.script.writes[stream.next++];
  if (bytes === undefined) return false;
  const roomLeft = stream.socket.write(bytes);
  if (stream.next >= stream.script.writes.length) return false;
  if (roomLeft) return true;
  if (stream.script.gapMs === undefined) {
    stream.socket.once('drain', () => {
      bursts.add(stream);
      scheduleBursts();
    });
    return false;
  }
  return true;
}

// Paced streams hang in the slot of the millisecond at which they are next due. One timer walks the slots by the clock: a late timer
// catches up on every slot it missed, so a stream's pace never drifts.
const SLOTS = 1024;
const wheel: Stream[][] = Array.from({ length: SLOTS }, () => []);
const epochMs = performance.now();
let walkedMs = 0;
let pacedCount = 0;

function addPaced(stream: Stream, gapMs: number, fromMs: number): void {
  wheel[(fromMs + gapMs) % SLOTS]?.push(stream);
}

function startPaced(stream: Stream, gapMs: number): void {
  const nowMs = Math.floor(performance.now() - epochMs);
  if (pacedCount++ === 0) {
    walkedMs = nowMs;
    setTimeout(walkWheel, 1);
  }
  addPaced(stream, gapMs, nowMs);
}

function walkWheel(): void {
  const nowMs = Math.floor(performance.now() - epochMs);
  while (walkedMs < nowMs) {
    walkedMs += 1;
    const slot = walkedMs % SLOTS;
    const due = wheel[slot];
    if (due === undefined || due.length === 0) continue;
    wheel[slot] = [];
    for (const stream of due) {
      const goesOn = !stream.socket.destroyed && writeNext(stream);
      if (goesOn) addPaced(stream, stream.script.gapMs ?? 1, walkedMs);
      else pacedCount -= 1;
    }
  }
  if (pacedCount > 0) setTimeout(walkWheel, 1);
}

function answer(socket: Socket, path: string, body: Buffer): void {
  const modelAt = body.indexOf(MODEL_KEY);
  const modelStart = modelAt + MODEL_KEY.length;
  const model = modelAt < 0 ? '' : body.toString('latin1', modelStart, body.indexOf(0x22, modelStart));
  const script = findScript(path, model);
  if (script === undefined) {
    socket.write(NOT_FOUND);
    return;
  }
  const stream: Stream = { socket, script, next: 0 };
  if (!writeNext(stream)) return;
  if (script.gapMs !== undefined) {
    startPaced(stream, Math.min(script.gapMs, SLOTS - 1));
    return;
  }
  bursts.add(stream);
  scheduleBursts();
}

/** Reads requests with a content-length, one after the other. Anything else ends the connection: only proxies of this benchmark call. */
function serve(socket: Socket): void {
  let pieces: Buffer[] = [];
  let bytesHeld = 0;
  /** Bytes at which the held request may be complete: the end of its body, once its head was read. */
  let bytesNeeded = 0;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece);
    bytesHeld += piece.length;
    while (bytesHeld > 0 && bytesHeld >= bytesNeeded) {
      const held = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
      pieces = [held];
      const headEnd = held.indexOf('\r\n\r\n');
      if (headEnd < 0) {
        if (bytesHeld > HEAD_BYTES_MAX) socket.destroy();
        return;
      }
      const head = held.toString('latin1', 0, headEnd);
      const bodyStart = headEnd + 4;
      const bodyBytes = readContentLength(head);
      if (bodyBytes === undefined) {
        socket.destroy();
        return;
      }
      const end = bodyStart + bodyBytes;
      bytesNeeded = end;
      if (bytesHeld < end) return;
      bytesNeeded = 0;
      bytesHeld -= end;
      pieces = bytesHeld === 0 ? [] : [held.subarray(end)];
      const pathStart = head.indexOf(' ') + 1;
      answer(socket, head.slice(pathStart, head.indexOf(' ', pathStart)), held.subarray(bodyStart, end));
    }
  });
}

/** Undefined when the body cannot be framed: chunked, or too long. */
function readContentLength(head: string): number | undefined {
  const lower = head.toLowerCase();
  const at = lower.indexOf('\r\ncontent-length:');
  if (at < 0) return lower.includes('\r\ntransfer-encoding:') ? undefined : 0;
  const bytes = Number.parseInt(lower.slice(at + 17, at + 40), 10);
  return Number.isNaN(bytes) || bytes > BODY_BYTES_MAX ? undefined : bytes;
}

listenAndAnnounce(createServer(serve));
