import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createFileTypeFinder } from './file-type.ts';

function typeOf(bytes: Buffer | string, pieceBytes = Infinity): string | undefined {
  const all = Buffer.from(bytes as string);
  const finder = createFileTypeFinder();
  for (let at = 0; at < all.length; at += pieceBytes) finder.push(all.subarray(at, at + pieceBytes));
  return finder.end();
}

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const archive = (...names: readonly string[]): Buffer =>
  latin(`PK\u0003\u0004${'\u0000'.repeat(100)}${names.join('\u0000')}`);
const OFFICE = 'application/vnd.openxmlformats-officedocument.';

const BINARY: readonly (readonly [name: string, bytes: Buffer, type: string | undefined])[] = [
  ['PDF', latin('%PDF-1.7\n\u00e2\u00e3'), 'application/pdf'],
  ['PNG', latin('\u0089PNG\r\n\u001a\n\u0000\u0000'), 'image/png'],
  ['JPEG', latin('\u00ff\u00d8\u00ff\u00e0\u0000'), 'image/jpeg'],
  ['GIF', latin('GIF89a\u0001\u0000'), 'image/gif'],
  ['WebP', latin('RIFF\u0001\u0000\u0000\u0000WEBPVP8 '), 'image/webp'],
  ['WAV', latin('RIFF\u0001\u0000\u0000\u0000WAVEfmt '), 'audio/wav'],
  ['AVI', latin('RIFF\u0001\u0000\u0000\u0000AVI LIST'), undefined],
  ['FLAC', latin('fLaC\u0000'), 'audio/flac'],
  ['Ogg', latin('OggS\u0000'), 'audio/ogg'],
  ['MP3 with tags', latin('ID3\u0004\u0000'), 'audio/mpeg'],
  ['MP3 without', latin('\u00ff\u00fb\u0090\u0000'), 'audio/mpeg'],
  ['no MP3', latin('\u00ff\u00ff\u00ff\u00ff'), undefined],
  ['DOCX', archive('[Content_Types].xml', 'word/document.xml'), `${OFFICE}wordprocessingml.document`],
  ['XLSX', archive('[Content_Types].xml', 'xl/workbook.xml'), `${OFFICE}spreadsheetml.sheet`],
  ['PPTX', archive('[Content_Types].xml', 'ppt/presentation.xml'), `${OFFICE}presentationml.presentation`],
  ['another archive', archive('word/readme.txt'), undefined],
  ['a program', latin('\u007fELF\u0002\u0001\u0000'), undefined],
];

suite('detects a binary file by its bytes', () => {
  for (const [name, bytes, type] of BINARY)
    test(name, () => {
      assert.equal(typeOf(bytes), type);
      assert.equal(typeOf(bytes, 1), type, 'however it comes');
    });
});

const TEXTS: readonly (readonly [name: string, text: string, type: string | undefined])[] = [
  ['plain', 'Hello, world.\nHow are you?', 'text/plain'],
  ['other letters', 'Grüße, 世界 🌍', 'text/plain'],
  ['an object', ' {"a": [1, 2]}\n', 'application/json'],
  ['a broken object', '{"a": [1, 2}', 'text/plain'],
  ['lines of objects', '{"a":1}\n{"a":2}\n', 'application/x-ndjson'],
  ['a table', 'name,age\n"Doe, J.",7\nRoe,8\n', 'text/csv'],
  ['a table of tabs', 'name\tage\nDoe\t7\n', 'text/csv'],
  ['a heading', '# Title\n\nText.', 'text/markdown'],
  ['a link', 'See [this](https://example.com).', 'text/markdown'],
  ['nothing', '', undefined],
  ['a zero byte', 'text\u0000', undefined],
];

suite('detects a text by its structure', () => {
  for (const [name, text, type] of TEXTS)
    test(name, () => {
      assert.equal(typeOf(text), type);
      assert.equal(typeOf(text, 1), type, 'also where pieces end within a character');
    });
});

test('detects no text that is not UTF-8', () => {
  assert.equal(typeOf(latin('Gr\u00fc\u00dfe')), undefined);
  assert.equal(typeOf(Buffer.from('Größe').subarray(0, 3)), undefined, 'also where it ends within a character');
});

test('detects a large text by its two ends', () => {
  const rows = Array.from({ length: 40_000 }, (_, row) => `{"row": ${row}}`);
  assert.equal(typeOf(`[\n${rows.join(',\n')}\n]\n`, 65_536), 'application/json');
  assert.equal(typeOf(`${rows.join('\n')}\n`, 65_536), 'application/x-ndjson');
});

test('reads a line of many beginnings of links in linear time', () => {
  // Where each beginning is followed to the end of the line, these take a minute.
  for (const piece of ['[', '[a](', '[a](b', '`', '- ['])
    assert.equal(typeOf(`a${piece.repeat(60_000)}`), 'text/plain');
  assert.equal(typeOf('[![a picture](a.png)](https://example.com/a_(b))'), 'text/markdown');
});
