import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block } from '../../../canonical/blocks.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import { createByteBudget } from '../../../lib/memory/byte-budget.ts';
import { DownloadError, type Download } from '../../../lib/net/download.ts';
import type { UpstreamFormat } from '../../../wire/format.ts';
import { chatUpstreamFormat } from '../../../wire/chat/format.ts';
import { MediaInliner } from './inline-media.ts';
import { mediaTypeOf } from './media-type.ts';
import { Cancellation } from '../../../lib/async/cancellation.ts';
import { plainDirectives } from '../../../../tests/support/plain-directives.ts';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const inlining: UpstreamFormat = { ...chatUpstreamFormat, mustInlineUrl: (url) => url.startsWith('https:') };
const cancellation = new Cancellation();
const MEMORY = { bytesMax: 200 * 1_024 * 1_024, waitMs: 5, waitingMax: 4 };

function create(download: Download, memory = createByteBudget(MEMORY)): MediaInliner {
  return new MediaInliner({ download, memory });
}

const image = (url: string): Block => ({ type: 'media', media: 'image', source: { type: 'url', url }, detail: 'low' });

function request(...blocks: Block[]): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [{ role: 'user', blocks }],
    tools: [],
    settings: {},
    directives: plainDirectives(),
    warnings: [],
  };
}

test('replaces addresses that the upstream does not open by bytes, also in tool results, and keeps the rest', async () => {
  const requested: string[] = [];
  const download: Download = (url) => {
    requested.push(url);
    return Promise.resolve({ bytes: PNG, mediaType: 'text/plain' });
  };
  const file: Block = { type: 'tool-result', callId: 'c', content: [image('https://x/b')] };
  const given = request(image('https://x/a'), image('gs://y'), file, image('https://x/a'));
  const inliner = create(download);
  const done = await inliner.inline(given, inlining, {}, cancellation);
  assert.ok(!('kind' in done));
  const bytes = { type: 'base64', mediaType: 'image/png', data: PNG.toString('base64') };
  assert.deepEqual(done.turns[0]?.blocks, [
    { ...image(''), source: bytes },
    image('gs://y'),
    { ...file, content: [{ ...image(''), source: bytes }] },
    { ...image(''), source: bytes },
  ]);
  assert.deepEqual(requested.toSorted(), ['https://x/a', 'https://x/b']);
  await inliner.inline(given, inlining, {}, cancellation);
  assert.equal(requested.length, 2, 'the next attempt fetches nothing again');
});

test('leaves the request as it is for a format whose upstreams open addresses', async () => {
  const never: Download = () => Promise.reject(new Error('not to be called'));
  const given = request(image('https://x/a'));
  assert.equal(await create(never).inline(given, chatUpstreamFormat, {}, cancellation), given);
});

test('fails this endpoint with the reason when a file cannot be fetched', async () => {
  const gone: Download = () => Promise.reject(new DownloadError('The address answered with status 404.'));
  const outcome = await create(gone).inline(request(image('https://x/a')), inlining, {}, cancellation);
  assert.ok('kind' in outcome);
  assert.equal(outcome.errorType, 'image_download_failed');
  assert.equal(outcome.status, 400);
  assert.match(outcome.message, /status 404/);
});

// @spec media-7
test('names the address without its query in a refusal', async () => {
  const gone: Download = () => Promise.reject(new DownloadError('The file is empty.'));
  const url = 'https://user:word@x.example/a.png?signature=secret#f';
  const outcome = await create(gone).inline(request(image(url)), inlining, {}, cancellation);
  assert.ok('kind' in outcome);
  assert.equal(
    outcome.message,
    'A file of the request could not be fetched from https://x.example/a.png: The file is empty.',
  );
});

test('stops fetching other files at the first failure', async () => {
  const requested: string[] = [];
  const ended: string[] = [];
  const download: Download = async (url, _limits, ownSignal) => {
    requested.push(url);
    if (url === 'https://x/1') throw new DownloadError('The address answered with status 404.');
    ownSignal.addEventListener('abort', () => ended.push(url));
    await new Promise((resolve) => ownSignal.addEventListener('abort', resolve));
    throw new DownloadError('The address could not be reached.');
  };
  const many = Array.from({ length: 9 }, (_, at) => image(`https://x/${at}`));
  const outcome = await create(download).inline(request(...many), inlining, {}, cancellation);
  assert.ok('kind' in outcome);
  assert.match(outcome.message, /status 404/);
  assert.deepEqual(requested, ['https://x/0', 'https://x/1', 'https://x/2', 'https://x/3']);
  assert.deepEqual(ended, ['https://x/0', 'https://x/2', 'https://x/3']);
});

test('refuses a page in place of a picture, and sends a page as a document', async () => {
  const page: Download = () => Promise.resolve({ bytes: Buffer.from('<html>Sign in'), mediaType: 'text/html' });
  const outcome = await create(page).inline(request(image('https://x/a')), inlining, {}, cancellation);
  assert.ok('kind' in outcome);
  assert.match(outcome.message, /holds no image, but text\/html\.$/);
  const document: Block = { type: 'media', media: 'document', source: { type: 'url', url: 'https://x/a' } };
  const done = await create(page).inline(request(document), inlining, {}, cancellation);
  assert.ok(!('kind' in done));
});

// @spec media-2
test('bounds a picture, another file and their time', async () => {
  const limits: unknown[] = [];
  const download: Download = (_url, limit) => {
    limits.push(limit);
    return Promise.resolve({ bytes: PNG, mediaType: 'application/pdf' });
  };
  const document: Block = { type: 'media', media: 'document', source: { type: 'url', url: 'https://x/a.pdf' } };
  await create(download).inline(request(image('https://x/a')), inlining, {}, cancellation);
  await create(download).inline(request(document), inlining, {}, cancellation);
  const mb = 1_024 * 1_024;
  assert.deepEqual(limits, [
    { bytesMax: 20 * mb, timeoutMs: 10_000 },
    { bytesMax: 50 * mb, timeoutMs: 10_000 },
  ]);
});

// @spec media-2
test('limits the number of files of one request', async () => {
  const many = Array.from({ length: 33 }, (_, at) => image(`https://x/${at}`));
  const download: Download = () => Promise.resolve({ bytes: PNG });
  const outcome = await create(download).inline(request(...many), inlining, {}, cancellation);
  assert.ok('kind' in outcome);
  assert.match(outcome.message, /At most 32/);
});

test('finds the type of a file by its first bytes, then by its server, then by its use', () => {
  assert.equal(mediaTypeOf({ bytes: PNG, mediaType: 'text/html' }, 'image'), 'image/png');
  assert.equal(mediaTypeOf({ bytes: Buffer.from('RIFF....WEBPVP8 ') }, 'image'), 'image/webp');
  for (const [brand, type] of [
    ['heic', 'image/heic'],
    ['mif1', 'image/heif'],
    ['avif', 'image/avif'],
    ['M4A ', 'audio/mp4'],
    ['qt  ', 'video/quicktime'],
    ['isom', 'video/mp4'],
  ] as const)
    assert.equal(mediaTypeOf({ bytes: Buffer.from(`\0\0\0\x18ftyp${brand}`) }, 'image'), type);
  assert.equal(mediaTypeOf({ bytes: Buffer.from('plain'), mediaType: 'text/plain' }, 'document'), 'text/plain');
  assert.equal(mediaTypeOf({ bytes: Buffer.from('?'), mediaType: 'application/octet-stream' }, 'audio'), 'audio/mpeg');
});

// @spec media-8
test('shares one memory for the files of all requests: a request without room waits, then is refused with Retry-After', async () => {
  const memory = createByteBudget({ ...MEMORY, bytesMax: 20 * 1_024 * 1_024 });
  const download: Download = () => Promise.resolve({ bytes: PNG, mediaType: 'image/png' });
  const first = create(download, memory);
  assert.ok(!('kind' in (await first.inline(request(image('https://x/a')), inlining, {}, cancellation))));
  assert.equal(memory.taken, PNG.length, 'what is held is what came');
  const second = await create(download, memory).inline(request(image('https://x/b')), inlining, {}, cancellation);
  assert.ok('kind' in second);
  assert.deepEqual([second.status, second.retryAfterMs, second.mayTry], [503, 5_000, 'next-endpoint']);
  first.close();
  assert.equal(memory.taken, 0);
  assert.ok(
    !('kind' in (await create(download, memory).inline(request(image('https://x/b')), inlining, {}, cancellation))),
  );
});

test('leaves nothing behind a file that could not be fetched', async () => {
  const memory = createByteBudget(MEMORY);
  const inliner = create(() => Promise.reject(new DownloadError('No.')), memory);
  await inliner.inline(request(image('https://x/a')), inlining, {}, cancellation);
  inliner.close();
  assert.equal(memory.taken, 0);
});
