import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import * as z from 'zod';
import { listOwnFiles } from '../../support/architecture/own-files.ts';
import { makeFolder, ROOT, startCli } from '../../support/cli/spawn-cli.ts';

/** What `npm run package` wrote. */
const FOLDER = join(ROOT, 'dist/package');
const UNPACKED_MB_MAX = 60;
/** Versions of Node to try beside the one that runs the tests, such as `20.20.2,22.21.1`: npm installs them, 190 MB each. */
const NODES = (process.env['PACKAGE_NODES'] ?? '').split(',').filter((version) => version !== '');
/** Of a script or a style sheet: the name of a package. */
const PACKAGE_IMPORT = /^(?:@?import (?:[^'"\n]* from )?|\} from )["']((?:@[^/"'\n]+\/)?[^./"'\n][^/"'\n]*)/gm;
const INSTALL_MS_MAX = 180_000;

const manifestSchema = z.looseObject({ name: z.string(), version: z.string() });
const answerSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })),
});

const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')));

suite('the package', () => {
  test('holds JavaScript, and no source, test or folder that npm would leave out', () => {
    const odd = files.filter((file) => /\.ts$|\.test\.|\.map$|node_modules/.test(file));
    assert.deepEqual(odd, []);
    assert.ok(files.includes('dist/main.js'));
  });

  test(`takes at most ${UNPACKED_MB_MAX} MB`, () => {
    const bytes = files.map((file) => statSync(join(FOLDER, file))).reduce((sum, { size }) => sum + size, 0);
    assert.ok(bytes < UNPACKED_MB_MAX * 1e6, `${bytes} bytes`);
  });

  test('depends on nothing but a Node that fits, and runs no script when it is installed', () => {
    const { dependencies, devDependencies, scripts, optionalDependencies } = manifest;
    assert.deepEqual([dependencies, devDependencies, scripts], [undefined, undefined, undefined]);
    const names = Object.keys(z.record(z.string(), z.string()).parse(optionalDependencies));
    assert.deepEqual(
      names.filter((name) => !/^node-(linux|win|darwin)-/.test(name)),
      [],
    );
  });

  test('holds the license of each package inside', () => {
    const text = readFileSync(join(FOLDER, 'THIRD-PARTY-LICENSES.md'), 'utf8');
    const vendor = readdirSync(join(FOLDER, 'dist/vendor'), { recursive: true, encoding: 'utf8' });
    const names = vendor.flatMap((file) => /^((?:@[^/]+\/)?[^@/]+)\.js$/.exec(file)?.[1] ?? []);
    assert.ok(names.length > 50, 'dependencies are inside');
    assert.deepEqual(
      names.filter((name) => !text.includes(`\n## ${name} `)),
      [],
    );
  });

  test('holds the license of each package that the dashboard imports', () => {
    const text = readFileSync(join(FOLDER, 'THIRD-PARTY-LICENSES.md'), 'utf8');
    const sources = listOwnFiles('dashboard/src').filter((file) => /(?<!\.test|\.d)\.(?:tsx?|css)$/.test(file));
    const names = new Set(
      sources.flatMap((file) =>
        [...readFileSync(join(ROOT, file), 'utf8').matchAll(PACKAGE_IMPORT)].map(([, name = '']) => name),
      ),
    );
    assert.ok(
      ['react', 'uplot', 'tailwindcss'].every((name) => names.has(name)),
      [...names].join(', '),
    );
    assert.deepEqual(
      [...names].filter((name) => !text.includes(`\n## ${name} `)),
      [],
    );
  });

  test('has every script that a thread or a process runs', () => {
    const named = files
      .filter((file) => file.startsWith('dist/') && file.endsWith('.js') && !file.startsWith('dist/vendor/'))
      .flatMap((file) => {
        const text = readFileSync(join(FOLDER, file), 'utf8');
        return [...text.matchAll(/new URL\(["'](\.[^"']+\.[jt]s)["'], import\.meta\.url\)/g)].map(([, name = '']) =>
          join(FOLDER, file, '..', name),
        );
      });
    assert.ok(named.length >= 5, `${named.length} scripts`);
    assert.deepEqual(
      named.filter((file) => !existsSync(file)),
      [],
    );
  });
});

for (const version of [undefined, ...NODES])
  suite(`the package, installed and run by Node ${version ?? process.versions.node}`, () => {
    let prefix = '';
    let node = process.execPath;
    before(() => {
      prefix = mkdtempSync(join(tmpdir(), 'package-'));
      // The pinned Node, which is what an older one starts, comes from the registry.
      const omit = version === undefined ? ['--omit=optional'] : [];
      const archive = join(ROOT, `dist/${manifest.name}-${manifest.version}.tgz`);
      npm(['install', '--global', '--prefix', prefix, ...omit, archive]);
      if (version === undefined) return;
      const platform = `node-${process.platform}-${process.arch}`;
      npm(['install', '--prefix', join(prefix, 'node'), `${platform}@${version}`]);
      node = join(prefix, 'node/node_modules', platform, 'bin/node');
    });
    after(() => rmSync(prefix, { recursive: true }));

    test('answers a call after a start without a configuration, and ends at SIGTERM', async (t) => {
      const gateway = startCli(t, ['serve', '--port', '0', '--data-dir', makeFolder(t)], {
        command: [node, join(prefix, 'bin/model-gateway')],
      });
      const [, url] = await gateway.until(/listening on (\S+)/);
      const [, key] = await gateway.until(/API key: +(\S+)/);
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      const { choices } = answerSchema.parse(await response.json());
      assert.equal(choices[0]?.message.content, 'Hello');
      gateway.child.kill('SIGTERM');
      const { code, stderr } = await gateway.exited;
      assert.equal(code, 0, stderr);
    });

    test('reads its catalog and its version', async (t) => {
      const command = [node, join(prefix, 'bin/model-gateway')];
      const { stdout } = await startCli(t, ['--version'], { command }).exited;
      assert.equal(stdout.trim(), manifest.version);
      const catalog = await startCli(t, ['catalog', 'check'], { command }).exited;
      assert.equal(catalog.code, 0, catalog.stderr);
    });
  });

function npm(args: readonly string[]): void {
  const { status, stderr } = spawnSync('npm', [...args, '--no-audit', '--no-fund'], {
    encoding: 'utf8',
    timeout: INSTALL_MS_MAX,
  });
  assert.equal(status, 0, stderr);
}
