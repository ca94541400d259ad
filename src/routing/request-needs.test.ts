import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block, MediaSource } from '../canonical/blocks.ts';
import { needsOf } from './request-needs.ts';
import { requestOf } from '../../tests/support/route-plan.ts';

function inputsOf(source: MediaSource): readonly string[] {
  const block: Block = { type: 'media', media: 'document', source };
  const request = requestOf({ turns: [{ role: 'user', blocks: [block] }] });
  return [...needsOf(request, false).inputs];
}

const bytes = (mediaType: string): MediaSource => ({ type: 'base64', mediaType, data: 'AAAA' });

for (const [what, source, needed] of [
  ['a PDF needs a model that reads files', bytes('application/pdf'), ['file']],
  ['so does what is elsewhere and may be anything', { type: 'url', url: 'https://a.example/b' }, ['file']],
  ['so does a stored file', { type: 'file', fileId: 'file_1' }, ['file']],
  ['a picture that came as a file needs one that sees', bytes('image/png'), ['image']],
  ['a file of text needs nothing, because its text is written out', bytes('text/csv; charset=utf-8'), []],
  ['nor does a document of text', { type: 'text', mediaType: 'text/plain', text: 'a' }, []],
  [
    'but the pictures in a document do',
    { type: 'blocks', blocks: [{ type: 'media', media: 'image', source: bytes('image/png') }] },
    ['image'],
  ],
] as const satisfies readonly (readonly [string, MediaSource, readonly string[]])[])
  test(what, () => assert.deepEqual(inputsOf(source), needed));
