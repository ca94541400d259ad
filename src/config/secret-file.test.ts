import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { loadConfig } from './load-config.ts';
import { renderConfig } from './render.ts';

const SECRET = 'a-secret-of-a-file-0123456789';

async function makeFolder(t: TestContext): Promise<(name: string, text: string) => Promise<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'secrets-'));
  t.after(() => rm(folder, { recursive: true }));
  return async (name, text) => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };
}

suite('secrets in files', () => {
  test('reads each variable from the file that NAME_FILE names', async (t) => {
    const write = await makeFolder(t);
    const values = {
      GATEWAY_SECRET: `${SECRET}-1`,
      GATEWAY_SECRET_PREVIOUS: `${SECRET}-2`,
      GATEWAY_API_KEY: `${SECRET}-3`,
      GATEWAY_MANAGEMENT_KEY: `${SECRET}-4`,
      DATABASE_URL: `postgres://me:${SECRET}@db/gateway`,
      REDIS_URL: `redis://:${SECRET}@redis`,
    };
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries(values)) env[`${name}_FILE`] = await write(name, `${value}\n`);
    const config = loadConfig({ argv: [], env });
    assert.deepEqual(
      [config.secret, config.previousSecret, config.apiKey, config.managementKey, config.databaseUrl, config.redisUrl],
      Object.values(values),
    );
  });

  test('fills ${file:/path} into values of the configuration, and shows it nowhere', async (t) => {
    const write = await makeFolder(t);
    const key = await write('key', `${SECRET}\r\n`);
    const port = await write('port', '8080');
    const path = await write(
      'gateway.yaml',
      `server: { port: '\${file:${port}}' }
providers: { alpha: { adapter: openai-compatible, base_url: http://127.0.0.1:1, api_key: \${file:${key}} } }
`,
    );
    const config = loadConfig({ argv: ['--config', path], env: {} });
    assert.equal(config.providers[0]?.apiKey, SECRET);
    assert.equal(config.server.port, 8_080);
    assert.ok(!renderConfig(config).includes(SECRET));
  });

  test('refuses a variable that is set twice, and a file that is missing, empty, relative or too large', async (t) => {
    const write = await makeFolder(t);
    const full = await write('full', SECRET);
    const failing = (env: Record<string, string>, message: RegExp) =>
      assert.throws(
        () => loadConfig({ argv: [], env }),
        (error: Error) => message.test(error.message) && !error.message.includes(SECRET),
      );
    failing({ GATEWAY_SECRET: SECRET, GATEWAY_SECRET_FILE: full }, /^GATEWAY_SECRET_FILE: must not be set together/);
    failing({ GATEWAY_API_KEY_FILE: `${full}-none` }, /^GATEWAY_API_KEY_FILE: there is no file \/.*full-none$/);
    failing({ GATEWAY_API_KEY_FILE: 'full' }, /^GATEWAY_API_KEY_FILE: the path "full" is not absolute$/);
    failing({ DATABASE_URL_FILE: await write('empty', '\n') }, /^DATABASE_URL_FILE: the file .* is empty$/);
    failing({ REDIS_URL_FILE: await write('large', SECRET.repeat(4_000)) }, /^REDIS_URL_FILE: .* is too large/);
    failing({ GATEWAY_API_KEY_FILE: tmpdir() }, /^GATEWAY_API_KEY_FILE: the file .* cannot be read \(EISDIR\)$/);
    const wrong = await write('wrong.yaml', 'redis_url: ${file:/no/such/file}\n');
    assert.throws(
      () => loadConfig({ argv: ['--config', wrong], env: {} }),
      /wrong\.yaml:1: redis_url: there is no file/,
    );
  });

  test('takes an empty variable for one that is not set', async (t) => {
    const write = await makeFolder(t);
    const file = await write('key', SECRET);
    const env = { GATEWAY_API_KEY: '', GATEWAY_API_KEY_FILE: file, GATEWAY_SECRET_FILE: '' };
    const { apiKey, secret } = loadConfig({ argv: [], env });
    assert.deepEqual([apiKey, secret], [SECRET, undefined]);
  });
});
