import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, linkSync, mkdirSync, mkdtempSync } from 'node:fs';
import { realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, suite, test } from 'node:test';
import { inheritedEnvironment } from './child-environment.ts';

const HERE = new URL('child-environment.ts', import.meta.url).href;
/** As they are without this project's own programs. */
const FOLDERS = (inheritedEnvironment(process.env)['PATH'] ?? '').split(path.delimiter);

/** A setting that only the machine's `npmrc` has: the name of the author of new packages. */
const MACHINE = 'the-machine';

let folder = '';
const at = (...steps: readonly string[]): string => path.join(folder, ...steps);

function put(file: string, text: string, mode = 0o644): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text, { mode });
}

/** A Node of its own: npm looks for the machine's `etc/npmrc` beside the `bin` of the Node that it runs on. */
function installNode(bin: string): void {
  mkdirSync(bin, { recursive: true });
  const file = path.join(bin, 'node');
  try {
    linkSync(realpathSync(process.execPath), file);
  } catch {
    copyFileSync(process.execPath, file);
  }
}

function programOfNpm(name: string): string {
  const found = FOLDERS.map((one) => path.join(one, name)).find((file) => existsSync(file));
  assert.ok(found !== undefined, `${name} is in PATH`);
  return realpathSync(found);
}

/** Runs `npm start` of a project with a pinned Node, which starts a package by `npx`, as an MCP server is started. */
/** @param environment what `npx` gets, as an expression */
function startByNpx(environment: string): string {
  put(
    at('project/start.ts'),
    `import { spawnSync } from 'node:child_process';
import { inheritedEnvironment } from ${JSON.stringify(HERE)};
const args = ['--yes', '--offline', '--package', ${JSON.stringify(`file:${at('tiny')}`)}, 'tiny-mcp'];
const { stdout, stderr } = spawnSync('npx', args, { env: ${environment}, encoding: 'utf8' });
process.stdout.write(stdout);
process.stderr.write(stderr);
`,
  );
  const { stdout, stderr } = spawnSync('npm', ['start', '--silent'], {
    cwd: at('project'),
    encoding: 'utf8',
    env: { PATH: [at('machine/bin'), ...FOLDERS].join(path.delimiter), HOME: at('home') },
  });
  assert.match(stdout, /^author: /m, stderr);
  return /^author: (.*)$/m.exec(stdout)?.[1] ?? '';
}

suite('a server that npx starts under npm start', { skip: process.platform === 'win32' }, () => {
  before(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'npx-')));
    installNode(at('machine/bin'));
    for (const name of ['npm', 'npx']) symlinkSync(programOfNpm(name), at('machine/bin', name));
    put(at('machine/etc/npmrc'), `init-author-name=${MACHINE}\n`);
    installNode(at('project/node_modules/pinned/bin'));
    mkdirSync(at('project/node_modules/.bin'));
    symlinkSync('../pinned/bin/node', at('project/node_modules/.bin/node'));
    put(at('project/package.json'), JSON.stringify({ type: 'module', scripts: { start: 'node start.ts' } }));
    put(at('tiny/package.json'), JSON.stringify({ name: 'tiny-mcp', version: '1.0.0', bin: 'tiny.cjs' }));
    put(
      at('tiny/tiny.cjs'),
      `#!/usr/bin/env node
const { execFileSync } = require('node:child_process');
process.stdout.write('author: ' + execFileSync('npm', ['config', 'get', 'init-author-name'], { encoding: 'utf8' }));
`,
      0o755,
    );
    mkdirSync(at('home'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('finds the npmrc of the machine', () => {
    assert.equal(startByNpx('inheritedEnvironment(process.env)'), MACHINE);
  });

  test('would not find it with the PATH that npm start gives', () => {
    assert.equal(startByNpx('{ PATH: process.env.PATH, HOME: process.env.HOME }'), '');
  });
});
