import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ADDITIONS } from './rows.ts';
import { copyWithAdditions } from './scratch.ts';

// Some ten seconds of work, so that `npm run verify` does it and `npm test` does not.
test('compiles an addition of each row of "How to add" without a change of another source', (t) => {
  const folder = copyWithAdditions(ADDITIONS);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const compiler = join(folder, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '--noEmit', '--project', folder], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
});
