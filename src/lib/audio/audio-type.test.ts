import assert from 'node:assert/strict';
import { test } from 'node:test';
import { audioTypeOf } from './audio-type.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

for (const [name, bytes, type] of [
  ['wav', 'RIFF\0\0\0\0WAVEfmt ', 'wav'],
  ['another RIFF file', 'RIFF\0\0\0\0AVI LIST', undefined],
  ['flac', 'fLaC\0', 'flac'],
  ['ogg', 'OggS\0', 'ogg'],
  ['webm', '\u001aE\u00df\u00a3', 'webm'],
  ['m4a', '\0\0\0\u0020ftypM4A ', 'mp4'],
  ['amr', '#!AMR\n', 'amr'],
  ['caf', 'caff\0\u0001', 'caf'],
  ['mp3 with a tag', 'ID3\u0004', 'mp3'],
  ['mp3', '\u00ff\u00fb\u0090\0', 'mp3'],
  ['aac', '\u00ff\u00f1\u0050\u0080', 'aac'],
  ['no frame', '\u00ff\u00ff\u00ff\u00ff', undefined],
  ['text', 'hello', undefined],
  ['nothing', '', undefined],
] as const)
  // @spec stt-1
  test(`finds the type of a file from its bytes: ${name}`, () => {
    assert.equal(audioTypeOf(latin(bytes)), type);
  });
