import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDocsSearch } from './docs-search.ts';

test('finds the section that a question is about, and is not there without pages', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'docs-'));
  assert.equal(createDocsSearch(folder), undefined);
  assert.equal(createDocsSearch(join(folder, 'none')), undefined);
  await writeFile(join(folder, 'limits.md'), `# Limits\n\n${'A limit of a key is a limit. '.repeat(40)}quiet`);
  await writeFile(
    join(folder, 'notifications.md'),
    '# Notifications\n\nWhat is sent.\n\n## Quiet hours\n\nThey hold events back until the end, for one digest.\n',
  );
  const search = createDocsSearch(folder);
  assert.deepEqual(
    search?.('When do quiet hours end?', 2).map(({ page, heading }) => [page, heading]),
    [
      ['notifications.md', 'Quiet hours'],
      ['limits.md', 'Limits'],
    ],
  );
  assert.deepEqual(search?.('zebra', 5), []);
  await rm(folder, { recursive: true });
});
