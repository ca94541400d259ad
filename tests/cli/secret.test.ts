import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { bring, keysSeen, manage, textAt } from '../support/byok.ts';
import { captureCli } from '../support/cli/capture-cli.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { makeFolder } from '../support/cli/spawn-cli.ts';
import { chatAnswer, json } from '../support/upstream.ts';

const OWN = 'sk-own-canary-0123456789abcdefghijklmnop';
const OTHER = 'sk-other-canary-0123456789abcdefghijklmnop';

// @spec byok-16
test('changes the secret while a gateway runs, which can decrypt old and new texts', async (t) => {
  const { gateway, first } = await startTwoProviders(t, { first: json(200, chatAnswer('fine')) });
  const rotate = () => captureCli(['secret', 'rotate', '--data-dir', gateway.dataDir]);
  const ask = async (): Promise<string | undefined> => {
    const messages = [{ role: 'user', content: 'hi' }];
    const answer = await gateway.post('/chat/completions', { model: 'acme/first', messages });
    assert.equal(answer.status, 200, await answer.text());
    return keysSeen(first).at(-1);
  };
  const { id } = await bring(gateway, 'first', OWN);
  const secretBefore = await readFile(join(gateway.dataDir, 'secret'), 'utf8');
  const rotated = await rotate();
  assert.deepEqual([rotated.code, rotated.stderr], [0, '']);
  assert.match(rotated.stdout, /^Made the secret [0-9a-f]{12} and sealed 1 rows with it\.\n$/);
  const secrets = (await readFile(join(gateway.dataDir, 'secret'), 'utf8')).split('\n');
  assert.equal(`${secrets[1]}\n`, secretBefore);
  assert.equal(await ask(), OWN);
  await manage(gateway, 'PATCH', `/byok/${textAt({ id }, 'id')}`, { key: OTHER });
  assert.equal(await ask(), OTHER);
  const again = await rotate();
  assert.match(again.stdout, /^Made the secret/);
  assert.equal(await ask(), OTHER);
  const events = await manage(gateway, 'GET', '/audit?action=secret%20rotate');
  assert.equal(events.body['total_count'], 2);
});

test('rejects a wrong call, and does nothing without a database', async (t) => {
  assert.equal((await captureCli(['secret'])).code, 2);
  assert.equal((await captureCli(['secret', 'rotate', 'now'])).code, 2);
  const nothing = await captureCli(['secret', 'rotate', '--data-dir', makeFolder(t)]);
  assert.equal(nothing.code, 1);
  assert.match(nothing.stderr, /There is no database/);
});
