import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { callRaw } from '../../support/http/console-client.ts';
import { startGateway, type RunningGateway } from '../../support/gateway.ts';

const SCRIPT = 'console.log("here");'.repeat(50);

async function build(folder: string, shell: string): Promise<void> {
  const dist = join(folder, 'dist');
  await rm(dist, { recursive: true, force: true });
  await mkdir(join(dist, 'assets'), { recursive: true });
  await writeFile(join(dist, 'index.html'), shell);
  await writeFile(join(dist, 'assets', 'main-abc.js'), SCRIPT);
  await writeFile(join(dist, 'assets', 'main-abc.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(join(dist, 'assets', 'main-abc.js.gz'), gzipSync(SCRIPT));
  await writeFile(join(dist, 'build.json'), JSON.stringify({ hash: shell }));
}

async function setUp(t: TestContext, shell?: string): Promise<{ gateway: RunningGateway; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'dashboard-'));
  if (shell !== undefined) await build(folder, shell);
  const gateway = await startGateway({ dashboardFolder: folder });
  t.after(async () => {
    await gateway.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { gateway, folder };
}

suite('pages of the dashboard', () => {
  // @spec console-1
  test('are one shell at the root and at every path below /ui, and nowhere else', async (t) => {
    const { gateway } = await setUp(t, '<!doctype html><h1>Shell</h1>');
    for (const path of ['/', '/ui', '/ui/', '/ui/models/acme/one-1.5.js', '/ui/nothing', '/?x=1']) {
      const { status, headers, text } = await callRaw(gateway, 'GET', path, { accept: 'text/html' });
      assert.deepEqual([status, text], [200, '<!doctype html><h1>Shell</h1>'], path);
      assert.equal(headers['cache-control'], 'no-cache');
      const again = await callRaw(gateway, 'GET', path, { 'if-none-match': headers.etag ?? '' });
      assert.equal(again.status, 304);
    }
    for (const path of ['/models', '/foo', '/v1/foo', '/uix', '/ui/assets/nothing.js', '/ui/api/foo', '//ui/']) {
      const { status, headers } = await callRaw(gateway, 'GET', path, { accept: 'text/html' });
      assert.ok(status >= 400, path);
      assert.match(headers['content-type'] ?? '', /json/, path);
    }
    assert.equal((await callRaw(gateway, 'HEAD', '/')).status, 200);
    assert.equal((await callRaw(gateway, 'POST', '/ui/')).status, 405);
  });

  // @spec console-14
  test('forbid scripts and hosts of others, and HTML that is made of texts', async (t) => {
    const { gateway } = await setUp(t, '<p>');
    const { headers } = await callRaw(gateway, 'GET', '/ui/');
    const policy = String(headers['content-security-policy']).split('; ');
    for (const rule of ["default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'"])
      assert.ok(policy.includes(rule), rule);
    assert.ok(policy.includes('trusted-types gateway-worker'));
    assert.doesNotMatch(policy.join(), /unsafe|https?:/);
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['access-control-allow-origin'], undefined);
  });

  test('load assets that never change, in the coding that the browser takes', async (t) => {
    const { gateway } = await setUp(t, '<p>');
    const plain = await callRaw(gateway, 'GET', '/ui/assets/main-abc.js');
    assert.equal(plain.text, SCRIPT);
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.match(plain.headers['content-type'] ?? '', /^text\/javascript/);
    for (const [accepted, coding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
    ] as const) {
      const response = await fetch(`${gateway.url}/ui/assets/main-abc.js`, {
        headers: { 'accept-encoding': accepted },
      });
      assert.equal(response.headers.get('content-encoding'), coding, accepted);
      assert.equal(await response.text(), SCRIPT);
    }
    for (const path of ['/ui/assets/../index.html', '/ui/assets/%2e%2e/build.json', '/ui/assets/'])
      assert.notEqual((await callRaw(gateway, 'GET', path)).text, SCRIPT);
  });

  test('are those of a new build without a restart', async (t) => {
    const { gateway, folder } = await setUp(t, 'one');
    assert.equal((await callRaw(gateway, 'GET', '/')).text, 'one');
    await build(folder, 'the second');
    assert.equal((await callRaw(gateway, 'GET', '/')).text, 'the second');
  });

  test('say how to get the dashboard where it was not built', async (t) => {
    const { gateway } = await setUp(t);
    const { status, text, headers } = await callRaw(gateway, 'GET', '/');
    assert.equal(status, 200);
    assert.match(text, /npm prune --omit=dev/);
    assert.match(headers['content-security-policy']?.toString() ?? '', /default-src 'none'/);
  });

  test('lead applications that want a key to the page that asks, with what they said', async (t) => {
    const { gateway } = await setUp(t, '<p>');
    const { status, headers } = await callRaw(gateway, 'GET', '/auth?callback_url=https%3A%2F%2Fapp.example%2F');
    assert.deepEqual([status, headers.location], [302, '/ui/authorize?callback_url=https%3A%2F%2Fapp.example%2F']);
  });

  test('have what browsers refused counted', async (t) => {
    const { gateway } = await setUp(t, '<p>');
    const type = { 'content-type': 'application/reports+json' };
    assert.equal((await callRaw(gateway, 'POST', '/ui/api/csp-report', type, '[]')).status, 204);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    assert.match(metrics, /^gateway_console_policy_reports_total 1$/m);
  });
});
