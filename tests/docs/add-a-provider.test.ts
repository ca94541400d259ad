import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ProviderAdapter } from '../../src/providers/contract.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A folder with quirks is small. */
const LINES_MAX = 40;

/** The page's own adapter and its test, as files in a folder of their own that reach the sources. */
function extract(folder: string): { readonly adapter: string; readonly lines: number } {
  const page = readFileSync(join(ROOT, 'docs/add-a-provider.md'), 'utf8');
  const blocks = [...page.matchAll(/^```ts\n(import [^]*?)^```$/gm)].map((match) => match[1] ?? '');
  const [adapter = '', tests = ''] = blocks;
  assert.equal(blocks.length, 2, 'the page shows an adapter and its test');
  const providers = pathToFileURL(join(ROOT, 'src/providers')).href;
  for (const [name, text] of [
    ['adapter.ts', adapter],
    ['adapter.test.ts', tests],
  ] as const)
    writeFileSync(join(folder, name), text.replaceAll("from '../", `from '${providers}/`));
  return { adapter, lines: adapter.trimEnd().split('\n').length };
}

test('runs the adapter of the page with its test', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { lines } = extract(folder);
  assert.ok(lines <= LINES_MAX, `${lines} lines`);
  const module = (await import(pathToFileURL(join(folder, 'adapter.ts')).href)) as {
    readonly cloudflareAdapter: ProviderAdapter;
  };
  assert.equal(module.cloudflareAdapter.id, 'cloudflare');
  const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
  const run = spawnSync(process.execPath, ['--test', join(folder, 'adapter.test.ts')], { encoding: 'utf8', env });
  assert.equal(run.status, 0, run.stdout + run.stderr);
  assert.match(run.stdout, /pass 2/);
});
