import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { makeFolder, ROOT, runCli, startCli } from '../support/cli/spawn-cli.ts';

/** A process that takes itself for one of other versions. */
function nodeOf(versions: object): readonly string[] {
  const claim = `Object.defineProperty(process, 'versions', { value: { ...process.versions, ...${JSON.stringify(versions)} } });`;
  return [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(claim)}`];
}

const OLD_NODE = nodeOf({ node: '20.1.2' });

/** The launcher in a folder of its own; `pinned` is the script that stands for the pinned Node. */
function installLauncher(t: TestContext, pinned: string | undefined): string {
  const folder = makeFolder(t);
  mkdirSync(join(folder, 'bin'));
  cpSync(join(ROOT, 'bin/model-gateway.js'), join(folder, 'bin/model-gateway.js'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  if (pinned === undefined) return folder;
  const bin = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin`);
  const node = join(bin, 'node');
  mkdirSync(bin, { recursive: true });
  writeFileSync(node, `#!/bin/sh\n${pinned}\n`);
  chmodSync(node, 0o755);
  return folder;
}

function launch(folder: string): readonly string[] {
  return [...OLD_NODE, join(folder, 'bin/model-gateway.js')];
}

test('runs the gateway itself under Node 24', async (t) => {
  const command = [process.execPath, join(ROOT, 'bin/model-gateway.js')];
  const { code, stdout } = await runCli(t, ['keys', '--help'], { command });
  assert.equal(code, 0);
  assert.match(stdout, /^Usage: model-gateway keys/);
});

test('uses the pinned Node when SQLite of the present Node 24 is too old for the migrations', async (t) => {
  const folder = installLauncher(t, 'exit 7');
  const command = [...nodeOf({ node: '24.11.0', sqlite: '3.50.4' }), join(folder, 'bin/model-gateway.js')];
  assert.equal((await runCli(t, [], { command })).code, 7);
});

suite('the launcher under an older Node', () => {
  test('runs the gateway with the pinned Node', async (t) => {
    const { code, stdout } = await runCli(t, ['--version'], { command: launch(ROOT) });
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });

  test('passes on arguments and the exit code', async (t) => {
    const folder = installLauncher(t, 'shift 2; for word in "$@"; do echo "[$word]"; done; exit 7');
    const { code, stdout } = await runCli(t, ['chat', 'two words', '*'], { command: launch(folder) });
    assert.deepEqual([code, stdout], [7, '[chat]\n[two words]\n[*]\n']);
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`passes on ${signal} and waits for the end`, async (t) => {
      const name = signal.slice(3);
      const folder = installLauncher(
        t,
        `trap 'echo got ${name}; exit 3' ${name}; echo ready; while :; do sleep 0.05; done`,
      );
      const launcher = startCli(t, [], { command: launch(folder) });
      await launcher.until(/ready/);
      launcher.child.kill(signal);
      const { code, stdout } = await launcher.exited;
      assert.deepEqual([code, stdout], [3, `ready\ngot ${name}\n`]);
    });
  }

  test('reports a death by signal as shells do', async (t) => {
    const folder = installLauncher(t, 'kill -KILL $$');
    assert.equal((await runCli(t, [], { command: launch(folder) })).code, 137);
  });

  test('says what is missing', async (t) => {
    const folder = installLauncher(t, undefined);
    const { code, stdout, stderr } = await runCli(t, [], { command: launch(folder) });
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(
      stderr,
      `Model Gateway needs Node 24 or newer, with SQLite 3.53 or newer. This is Node 20.1.2, and the pinned one is not installed: run "npm ci" in ${folder}/ (Linux and Windows), or install Node 24.21\n`,
    );
  });
});
