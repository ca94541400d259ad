import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { textAt } from '../support/byok.ts';
import { API_KEY } from '../support/gateway.ts';
import { makeFolder, startCli, type CliProcess } from '../support/cli/spawn-cli.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { upload } from '../support/files/upload.ts';

/** `npm run test:crash` runs more. */
const KILLS = Number(process.env['CRASH_KILLS'] ?? 2);

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function baseUrlOf(cli: CliProcess): Promise<string> {
  const [, url] = await cli.until(/listening on (http:\/\/\S+)/);
  return `${url}/v1`;
}

async function listFiles(baseUrl: string): Promise<readonly JsonObject[]> {
  const answer = await fetch(`${baseUrl}/files`, { headers: { authorization: `Bearer ${API_KEY}` } });
  const body: unknown = await answer.json();
  assert.ok(isJsonObject(body));
  return listOf(body['data']).map((file) => objectOf(file));
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries++) {
    assert.ok(tries < 1_000, 'it never came to that');
    await wait(10);
  }
}

/** Begins an upload that never ends. */
function beginUpload(baseUrl: string): void {
  const sent = request(`${baseUrl}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'multipart/form-data; boundary=x' },
  });
  sent.on('error', () => undefined);
  sent.write('--x\r\ncontent-disposition: form-data; name="file"; filename="half.txt"\r\n\r\n');
  sent.write('half '.repeat(50_000));
}

// @spec file-13
test('shows no half file after kill -9 during uploads, and removes the rest at the next start', async (t) => {
  const dataDir = makeFolder(t);
  const folder = join(dataDir, 'files');
  const start = (): CliProcess =>
    startCli(t, ['serve', '--port', '0', '--data-dir', dataDir], {
      env: { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: 'test-management-key-0123456789abcdef' },
    });
  const whole: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const cli = start();
    const baseUrl = await baseUrlOf(cli);
    const { body } = await upload({ baseUrl }, `whole ${kill}`, { name: 'whole.txt' });
    whole.push(textAt(body, 'id'));
    beginUpload(baseUrl);
    beginUpload(baseUrl);
    await until(async () => (await filesIn(folder)).filter((name) => name.endsWith('.partial')).length >= 2);
    cli.child.kill('SIGKILL');
    await cli.exited;
  }
  const baseUrl = await baseUrlOf(start());
  assert.deepEqual(
    (await listFiles(baseUrl)).map(({ id }) => id),
    whole,
  );
  await until(async () => (await filesIn(folder)).length === whole.length);
  assert.deepEqual((await filesIn(folder)).toSorted(), whole.toSorted());
});
