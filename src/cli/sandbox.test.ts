import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

const SANDBOX = new URL('sandbox.ts', import.meta.url).href;

function run(...args: readonly string[]): ChildProcess {
  const script = `import { runSandbox } from ${JSON.stringify(SANDBOX)}; process.exitCode = await runSandbox(process.argv.slice(1));`;
  return spawn(process.execPath, ['--input-type=module', '--eval', script, '--', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function finish(
  child: ChildProcess,
): Promise<{ readonly code: unknown; readonly out: string; readonly err: string }> {
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [code] = await once(child, 'close');
  return { code, out, err };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test(`says where the sandbox listens, answers, and stops at ${signal}`, async () => {
    const child = run('--port', '0');
    assert.ok(child.stdout);
    const finished = finish(child);
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const origin = /^sandbox listening on (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1];
    assert.ok(origin !== undefined, line);
    const response = await fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'hi' }] }),
    });
    assert.equal(response.status, 200);
    await response.text();
    child.kill(signal);
    assert.deepEqual(await finished, { code: 0, out: `${line}\n`, err: '' });
  });

test('reports a taken port in one sentence', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { code, out, err } = await finish(run('--port', String(port)));
  server.close();
  assert.deepEqual(
    { code, out, err },
    { code: 1, out: '', err: `Port ${port} on 127.0.0.1 is taken. Choose another with --port.\n` },
  );
});

for (const args of [['--port', '70000'], ['--port', 'x'], ['--port='], ['--prot', '1'], ['extra']])
  test(`refuses the command line ${args.join(' ')}`, async () => {
    const { code, out, err } = await finish(run(...args));
    assert.deepEqual([code, out], [2, '']);
    assert.ok(err !== '' && !err.includes('at '), err);
  });

test('names every model with --help', async () => {
  const { code, out } = await finish(run('--help'));
  assert.equal(code, 0);
  for (const model of ['echo', 'tools', 'json', 'reasoning', 'slow', 'long', 'cut', 'stall', 'error-429'])
    assert.match(out, new RegExp(`^ {2}${model} `, 'm'));
});
