import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWarnings } from './warnings.ts';

test('reports no member of a node that was dropped as a whole, but reports its siblings', () => {
  const { add, list } = createWarnings();
  add('content-dropped', 'messages[6].audio', 'whole');
  add('field-dropped', 'messages[6].audio.id', 'part');
  add('field-dropped', 'messages[6].audio_format', 'beside');
  add('content-dropped', 'messages[1].content[0].citations', 'some of them');
  add('field-dropped', 'messages[1].content[0].citations[1].encrypted_index', 'of one that is sent');
  assert.deepEqual(
    list.map(({ path }) => path),
    [
      'messages[6].audio',
      'messages[6].audio_format',
      'messages[1].content[0].citations',
      'messages[1].content[0].citations[1].encrypted_index',
    ],
  );
});
