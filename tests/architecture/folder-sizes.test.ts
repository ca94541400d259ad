import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ENTRIES_MAX, findLargeFolders } from '../support/architecture/folder-sizes.ts';
import { listOwnFiles } from '../support/architecture/own-files.ts';

suite('folders', () => {
  test(`have at most ${ENTRIES_MAX} entries, tests included`, () => {
    const files = ['src', 'tests', 'scripts', 'bench'].flatMap((folder) => listOwnFiles(folder));
    assert.ok(files.length > 1_000, 'there are files to count');
    assert.deepEqual(findLargeFolders(files), []);
  });

  test('are refused with one entry more, folders counted like files', () => {
    const files = Array.from({ length: ENTRIES_MAX }, (_, at) => `src/lib/file-${at}.ts`);
    assert.deepEqual(findLargeFolders(files), []);
    const found = findLargeFolders([...files, 'src/lib/more/a.ts', 'src/lib/more/b.ts']);
    assert.deepEqual(found, ['src/lib: 41 entries, at most 40: group them by what they are for']);
  });

  test('may hold any number of data files', () => {
    const files = Array.from({ length: ENTRIES_MAX + 1 }, (_, at) => `tests/golden/own/${at}.json`);
    assert.deepEqual(findLargeFolders(files), []);
  });
});
