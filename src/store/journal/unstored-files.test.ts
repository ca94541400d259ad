import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../engine/database.ts';
import { generationRows } from '../generations/columns.ts';
import { applyUnstoredFiles } from './unstored-files.ts';
import { ALL_ENGINES } from '../../../tests/support/store/engines.ts';
import { sampleCharges, sampleGeneration } from '../../../tests/support/store/generations.ts';
import { mustAgree, storedIds } from '../../../tests/support/store/journal.ts';

/** What a version without these columns kept, in the form of its files. */
function settlementOf(id: string) {
  const row = sampleGeneration({ id });
  const {
    tool_calls: _calls,
    tool_failures: _failures,
    country: _country,
    ...generation
  } = generationRows.toColumns(row);
  return { generation, ...sampleCharges(row) };
}

async function makeFolder(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'unstored-'));
  t.after(() => rm(parent, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(parent, name), text);
  return parent;
}

for (const { name, makePlace } of ALL_ENGINES)
  test(`stores what earlier versions kept in files, once, and removes them: ${name}`, async (t) => {
    const place = await makePlace();
    const database = await openDatabase({ ...place, clock });
    t.after(async () => {
      await database.close();
      await place.remove();
    });
    const files = {
      '001795000000000-2-abcdefABCDEF.json': JSON.stringify([settlementOf('gen-1'), settlementOf('gen-2')]),
      '001795000000001-1-abcdefABCDEF.json': JSON.stringify([settlementOf('gen-3')]),
    };
    // The second time as after a kill between the commit and the removal.
    for (const _ of [1, 2]) {
      const folder = await makeFolder(t, files);
      await applyUnstoredFiles(database, folder, (file) => assert.fail(file));
      assert.deepEqual(await readdir(folder).catch(() => 'gone'), 'gone');
    }
    assert.deepEqual(await storedIds(database), ['gen-1', 'gen-2', 'gen-3']);
    await mustAgree(database);
  });

test('lets two gateways store the files of one folder at once, each record once', async (t) => {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const folder = await makeFolder(t, {
    '001795000000000-1-abcdefABCDEF.json': JSON.stringify([settlementOf('gen-1')]),
    '001795000000001-1-abcdefABCDEF.json': JSON.stringify([settlementOf('gen-2')]),
    '001795000000002-1-abcdefABCDEF.json': 'no JSON',
  });
  await Promise.all([1, 2, 3].map(() => applyUnstoredFiles(database, folder, () => undefined)));
  assert.deepEqual(await storedIds(database), ['gen-1', 'gen-2']);
  assert.deepEqual(await readdir(folder), ['001795000000002-1-abcdefABCDEF.json.unreadable']);
  await mustAgree(database);
});

test('sets a file aside that it cannot read, and stores the others', async (t) => {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const folder = await makeFolder(t, {
    '001795000000000-1-abcdefABCDEF.json': '[{"generation":',
    '001795000000001-1-abcdefABCDEF.json': JSON.stringify([settlementOf('gen-1')]),
    '001795000000002-1-abcdefABCDEF.json.partial': '[',
  });
  const unreadable: string[] = [];
  await applyUnstoredFiles(database, folder, (file) => unreadable.push(file));
  assert.deepEqual(await storedIds(database), ['gen-1']);
  assert.deepEqual(unreadable, [join(folder, '001795000000000-1-abcdefABCDEF.json.unreadable')]);
  assert.equal((await readdir(folder)).length, 2);
});

test('does nothing where there is no such folder', async (t) => {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  await applyUnstoredFiles(database, join(tmpdir(), 'no-such-folder-of-records'), (file) => assert.fail(file));
});
