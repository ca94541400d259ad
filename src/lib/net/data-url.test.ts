import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { dataUrlHead, makeDataUrl, splitDataUrl, decodeDataUrl } from './data-url.ts';

test('splits a plain data URL at its two marks', () => {
  assert.deepEqual(splitDataUrl('data:image/png;base64,iVBORw0KGgo='), {
    mediaType: 'image/png',
    data: 'iVBORw0KGgo=',
  });
  assert.deepEqual(splitDataUrl('data:image/svg+xml;base64,PHN2Zz4='), {
    mediaType: 'image/svg+xml',
    data: 'PHN2Zz4=',
  });
  assert.deepEqual(splitDataUrl('data:application/vnd.ms-excel;base64,'), {
    mediaType: 'application/vnd.ms-excel',
    data: '',
  });
});

for (const url of [
  '',
  'data:',
  'https://example.com/a.png',
  'https://example.com/?x=data:image/png;base64,AAAA',
  'DATA:image/png;base64,AAAA',
  'data:image/png;BASE64,AAAA',
  'data:text/plain;charset=utf-8;base64,AAAA',
  'data:text/plain,hello%20world',
  'data:;base64,AAAA',
  'data:image;base64,AAAA',
  'data:image/;base64,AAAA',
  'data:image/png ;base64,AAAA',
  ' data:image/png;base64,AAAA',
  `data:image/${'x'.repeat(300)};base64,AAAA`,
]) {
  test(`${JSON.stringify(url.slice(0, 48))} stays a URL`, () => {
    assert.equal(splitDataUrl(url), undefined);
  });
}

test('halves that were split go together to the very same text', () => {
  const mediaType = fc.stringMatching(/^[a-z]{1,9}\/[a-z0-9.+-]{0,20}[a-z]$/);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.tuple(mediaType, fc.base64String()).map(([type, data]) => makeDataUrl(type, data)),
        fc.string(),
      ),
      (url) => {
        const halves = splitDataUrl(url);
        if (halves !== undefined) assert.equal(makeDataUrl(halves.mediaType, halves.data), url);
      },
    ),
  );
});

test('megabytes of data are not searched', () => {
  const data = ';base64,'.repeat(1_000_000);
  assert.equal(splitDataUrl(`data:image/png;base64,${data}`)?.data.length, data.length);
  assert.equal(splitDataUrl(`data:${'x'.repeat(8_000_000)}`), undefined);
});

test('data is read out of every spelling of a data URL', () => {
  for (const [url, mediaType] of [
    ['data:image/png;base64,AAAA', 'image/png'],
    ['DATA:Image/PNG;BASE64,AAAA', 'image/png'],
    ['data:text/plain;charset=utf-8;base64,AAAA', 'text/plain'],
    ['data:;base64,AAAA', 'text/plain'],
  ] as const)
    assert.deepEqual(decodeDataUrl(url), { mediaType, data: 'AAAA' });
  const text = (url: string): readonly string[] => {
    const { mediaType = '', data = '' } = decodeDataUrl(url) ?? {};
    return [mediaType, Buffer.from(data, 'base64').toString('utf8')];
  };
  assert.deepEqual(text('data:text/plain;charset=utf-8,Gr%C3%BC%C3%9Fe,%20hello'), ['text/plain', 'Grüße, hello']);
  assert.deepEqual(text('data:image/svg+xml;utf8,<svg/>'), ['image/svg+xml', '<svg/>']);
  assert.deepEqual(text('data:,x'), ['text/plain', 'x']);
  for (const url of ['data:text/plain', 'https://x/data:image/png;base64,AAAA', 'data:image/png;base64', ''])
    assert.equal(decodeDataUrl(url), undefined);
  for (const url of ['data:text/plain,100%', 'data:application/pdf,%ff']) assert.equal(decodeDataUrl(url), undefined);
  assert.equal(decodeDataUrl(`data:${'x'.repeat(8_000_000)};base64,AAAA`), undefined);
});

test('finds where the data begins, however the head is spelled', () => {
  const head = (mediaType: string, isBase64: boolean, length: number) => ({ mediaType, isBase64, length });
  assert.deepEqual(dataUrlHead('DATA:Image/PNG; charset=x ; base64 ,AAAA'), head('image/png', true, 36));
  assert.deepEqual(dataUrlHead('data:,hello'), head('text/plain', false, 6));
  assert.equal(dataUrlHead('https://example.com/a,b'), undefined);
  assert.equal(dataUrlHead(`data:${'x'.repeat(600)},AAAA`), undefined);
});
