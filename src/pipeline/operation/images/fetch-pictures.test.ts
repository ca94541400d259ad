import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainDirectives } from '../../../../tests/support/plain-directives.ts';
import type { ImageOperation } from '../../../canonical/image.ts';
import { createByteBudget } from '../../../lib/memory/byte-budget.ts';
import { DownloadError, type Download } from '../../../lib/net/download.ts';
import { encodePng } from '../../../sandbox/png.ts';
import { fetchPictures } from './fetch-pictures.ts';

const KB = 1_024;
const BYTES = 100 * KB;
const PNG = Buffer.concat([
  encodePng({ width: 64, height: 64 }, () => [1, 2, 3, 255], []),
  Buffer.alloc(BYTES),
]).subarray(0, BYTES);
const { signal } = new AbortController();

function operationOf(...urls: readonly string[]): ImageOperation {
  return {
    kind: 'image',
    delivery: 'whole',
    prompt: 'x',
    n: 1,
    references: urls.map((url, at) => ({ url, path: `images[${at}]` })),
    shape: 'gateway',
    responseFormat: 'b64_json',
    directives: plainDirectives('a/draws'),
    warnings: [],
  };
}

const ADDRESSES = Array.from({ length: 6 }, (_, at) => `https://example.com/${at}.png`);
const dataUrl = `data:image/png;base64,${PNG.toString('base64')}`;

const NO_FILES = { find: () => Promise.resolve(undefined), read: () => Promise.reject(new Error('there is none')) };

function setUp(bytesMax: number) {
  const fileMemory = createByteBudget({ bytesMax, waitMs: 600_000, waitingMax: 8 });
  const ends: (() => void)[] = [];
  const scope = {
    owner: { accountId: 'a', workspaceId: 'w', keyHash: 'k' },
    signal,
    defer: (end: () => void) => void ends.push(end),
  };
  let atOnce = 0;
  let atOnceMax = 0;
  /** Pieces and the whole of them exist for a moment, as in the real one. */
  const download: Download = async (_url, { memory }) => {
    assert.ok(memory !== undefined, 'nothing is downloaded without memory for it');
    atOnceMax = Math.max(atOnceMax, ++atOnce);
    for (const bytes of [BYTES / 2, BYTES]) await memory.hold(2 * bytes);
    atOnce--;
    return { bytes: Buffer.from(PNG) };
  };
  return {
    fileMemory,
    download,
    atOnceMax: () => atOnceMax,
    close: () => ends.forEach((end) => end()),
    fetch: (operation: ImageOperation, by: Download = download) =>
      fetchPictures({ download: by, fileMemory, storedFiles: NO_FILES }, operation, scope),
  };
}

describe('the memory of pictures of a request', () => {
  test('is held while they are downloaded, and after that once for each, until the request is over', async () => {
    const { fetch, fileMemory, close, atOnceMax } = setUp(4_096 * KB);
    const { references } = await fetch(operationOf(...ADDRESSES));
    assert.equal(references.length, ADDRESSES.length);
    assert.equal(fileMemory.taken, ADDRESSES.length * BYTES);
    assert.equal(atOnceMax(), 4);
    close();
    assert.equal(fileMemory.taken, 0);
  });

  test('is held for data of the request before it is decoded', async () => {
    const { fetch, fileMemory } = setUp(4_096 * KB);
    const { references } = await fetch(operationOf(dataUrl, dataUrl));
    assert.equal(references.length, 2);
    assert.ok(fileMemory.taken <= 2 * BYTES && fileMemory.taken > 2 * BYTES - 4, String(fileMemory.taken));
  });

  test('never waits for itself: too much of it is 503, at once', async () => {
    const { fetch, close, fileMemory } = setUp(512 * KB);
    await assert.rejects(fetch(operationOf(...ADDRESSES)), { status: 503 });
    close();
    assert.equal(fileMemory.taken, 0);
  });

  test('is no more than what stays of them all, and one of them twice, where there is no more', async () => {
    const { fetch } = setUp(4 * BYTES);
    const { references } = await fetch(operationOf(...ADDRESSES.slice(0, 3)));
    assert.equal(references.length, 3);
  });

  test('is free again when one of them fails, and the other downloads end', async () => {
    const { fetch, fileMemory, close, download } = setUp(4_096 * KB);
    let aborted = 0;
    const failing: Download = (url, limits, over) => {
      if (url.endsWith('1.png')) return Promise.reject(new DownloadError('The address answered with status 404.'));
      over.addEventListener('abort', () => void aborted++);
      return download(url, limits, over);
    };
    await assert.rejects(
      fetch(operationOf(...ADDRESSES), failing),
      /images\[1\]: could not be fetched from example\.com/,
    );
    assert.equal(aborted, 3);
    close();
    assert.equal(fileMemory.taken, 0);
  });
});
