import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite, test, type TestContext } from 'node:test';

const ROOT = path.join(import.meta.dirname, '../..');
/** Of the workspace: what a clone has. */
const PARTS = [
  'build',
  'build.js',
  'index.html',
  'package.json',
  'size-limits.json',
  'src',
  'tsconfig.json',
  'vite.config.ts',
];

/** The workspace of a clone, with or without installed packages. */
function cloneWorkspace(t: TestContext, { isInstalled }: { readonly isInstalled: boolean }): string {
  const project = mkdtempSync(path.join(tmpdir(), 'dashboard-'));
  t.after(() => rmSync(project, { recursive: true, force: true }));
  const workspace = path.join(project, 'dashboard');
  for (const part of PARTS) cpSync(path.join(ROOT, 'dashboard', part), path.join(workspace, part), { recursive: true });
  cpSync(path.join(ROOT, 'package-lock.json'), path.join(project, 'package-lock.json'));
  cpSync(path.join(ROOT, 'tsconfig.json'), path.join(project, 'tsconfig.json'));
  if (isInstalled) symlinkSync(path.join(ROOT, 'node_modules'), path.join(project, 'node_modules'));
  return workspace;
}

/** `prepare` of the workspace, which `npm ci` runs. */
function prepare(workspace: string): { readonly status: number | null; readonly stdout: string } {
  const { status, stdout } = spawnSync(process.execPath, ['build.js'], { cwd: workspace, encoding: 'utf8' });
  return { status, stdout };
}

suite('the installation', () => {
  test('succeeds without the tools of the dashboard, and says how to get it', (t) => {
    const workspace = cloneWorkspace(t, { isInstalled: false });
    const { status, stdout } = prepare(workspace);
    assert.equal(status, 0);
    assert.match(stdout, /not built, its build tools are not installed/);
    assert.equal(existsSync(path.join(workspace, 'dist')), false);
  });

  test('succeeds where the build of the dashboard fails, and keeps the reason', (t) => {
    const workspace = cloneWorkspace(t, { isInstalled: true });
    appendFileSync(path.join(workspace, 'src/main.tsx'), '\nthis is no TypeScript\n');
    const { status, stdout } = prepare(workspace);
    assert.equal(status, 0);
    assert.match(stdout, /the build failed, the gateway works without it/);
    assert.match(readFileSync(path.join(workspace, 'dist/failed.txt'), 'utf8'), /main\.tsx/);
    assert.equal(existsSync(path.join(workspace, 'dist/index.html')), false);
  });
});
