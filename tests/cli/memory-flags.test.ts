import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, runCli } from '../support/cli/spawn-cli.ts';

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

/** What stands between `node` and the entry, where `npm start` names them. */
function startFlags(): readonly string[] {
  const [, flags = ''] = /"start": "exec node (.*) src\/main\.ts"/.exec(read('package.json')) ?? [];
  return flags.split(' ');
}

test('starts with the same flags from npm, in the image, and behind an older Node', () => {
  const flags = startFlags();
  assert.match(flags.join(' '), /^--max-semi-space-size=\d+$/);
  const list = flags.map((flag) => `"${flag}"`).join(', ');
  assert.ok(read('deploy/Dockerfile').includes(`ENTRYPOINT ["node", ${list}, "dist/main.js"]`));
  assert.ok(read('bin/model-gateway.js').includes(`NODE_FLAGS = [${list.replaceAll('"', "'")}]`));
});

test('sets no flag that this Node does not know', async (t) => {
  const command = [process.execPath, ...startFlags(), join(ROOT, 'src/main.ts')];
  // V8 reports an unknown flag on standard error and goes on.
  const { code, stderr } = await runCli(t, ['--version'], { command });
  assert.deepEqual([code, stderr], [0, '']);
});
