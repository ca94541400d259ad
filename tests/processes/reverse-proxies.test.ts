import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../src/lib/async/with-timeout.ts';
import { makeFolder, ROOT } from '../support/cli/spawn-cli.ts';
import { API_KEY } from '../support/gateway.ts';
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../support/http/loopback-certificate.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatChunk, sse, type Script } from '../support/upstream.ts';

/** A proxy of `deploy/`, as its package for Debian installs it. */
interface Proxy {
  readonly name: string;
  readonly file: string;
  /** @returns the command that serves the gateway over TLS in the foreground */
  command(text: string, folder: string, ports: Ports): readonly string[];
}

interface Ports {
  readonly gateway: number;
  readonly tls: number;
}

const START_MS_MAX = 30_000;
/** On a busy machine; the gateway itself ends a silent stream later. */
const HANG_UP_MS_MAX = 20_000;
const UPLOAD_CHARS = 5_000_000;

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    file: 'deploy/nginx.conf',
    command(text, folder, { gateway, tls }) {
      const server = replaceAll(text, [
        ['127.0.0.1:8787', `127.0.0.1:${gateway}`],
        ['listen 443', `listen 127.0.0.1:${tls}`],
        ['/etc/ssl/gateway.example.com', join(folder, 'cert')],
        ['gateway.example.com', 'localhost'],
      ]);
      mkdirSync(join(folder, 'temp'));
      const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((what) => `${what}_temp_path ${join(folder, 'temp')};`)
        .join('\n');
      const main = `daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {}\nhttp { access_log off; ${temp}\n${server} }`;
      writeFileSync(join(folder, 'main.conf'), main);
      return ['nginx', '-p', folder, '-c', join(folder, 'main.conf')];
    },
  },
  {
    name: 'caddy',
    file: 'deploy/Caddyfile',
    command(text, folder, { gateway, tls }) {
      const site = replaceAll(text, [
        ['127.0.0.1:8787', `127.0.0.1:${gateway}`],
        [
          'gateway.example.com {',
          `https://localhost:${tls} {\n\ttls ${join(folder, 'cert.pem')} ${join(folder, 'cert.key')}`,
        ],
      ]);
      writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
      return ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
    },
  },
];

/** Each pair has to be there: a file that was changed must not pass unnoticed. */
function replaceAll(text: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((changed, [from, to]) => {
    assert.ok(changed.includes(from), `${from} is not in the file any more`);
    return changed.replaceAll(from, to);
  }, text);
}

for (const proxy of PROXIES)
  suite(`${proxy.name} with ${proxy.file}`, { skip: whyNot(proxy.name) }, () => {
    test('passes on each event of a stream before the next one comes', async (t) => {
      const second = Promise.withResolvers<void>();
      const { port } = await serve(t, proxy, async (_arrived, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(sse([chatChunk({ role: 'assistant', content: 'first' })]));
        await second.promise;
        response.end(sse([chatChunk({ content: 'second' }, 'stop'), '[DONE]']));
      });
      const stream = await ask(port, { stream: true });
      assert.equal(stream.statusCode, 200);
      let text = '';
      for await (const piece of stream.setEncoding('utf8')) {
        text += String(piece);
        // The upstream waits for it: a proxy that kept the first event back would wait for ever.
        if (text.includes('first')) second.resolve();
      }
      assert.match(text, /first[^]*second[^]*\[DONE\]/);
    });

    test('ends the request at the provider when the caller hangs up', async (t) => {
      const closed = Promise.withResolvers<void>();
      const { port } = await serve(t, proxy, (_arrived, response) => {
        response.on('close', () => closed.resolve());
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        // Then it is silent: a proxy that only notices at the next event that its caller is gone would notice nothing.
        response.write(sse([chatChunk({ role: 'assistant', content: 'half' })]));
      });
      const stream = await ask(port, { stream: true });
      await once(stream, 'data');
      stream.destroy();
      await withTimeout(closed.promise, HANG_UP_MS_MAX);
    });

    test('passes on large bodies, and hides metrics', async (t) => {
      const { port } = await serve(t, proxy, ({ body }, response) => {
        const content = String(JSON.stringify(body).length > UPLOAD_CHARS);
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] }));
      });
      const answer = await ask(port, { messages: [{ role: 'user', content: 'x'.repeat(UPLOAD_CHARS) }] });
      assert.match(await textOf(answer), /"content":"true"/);
      const metrics = await call(port, 'GET', '/metrics');
      metrics.resume();
      assert.equal(metrics.statusCode, 404);
    });
  });

/** `false`: it can be tried. */
function whyNot(name: string): string | false {
  if (spawnSync('sh', ['-c', `command -v ${name}`]).status === 0) return false;
  if (process.env['REQUIRE_PROXIES'] === '1') throw new Error(`${name} is not installed`);
  console.error(`${name} is not installed: its tests are left out`);
  return `${name} is not installed`;
}

async function serve(t: TestContext, proxy: Proxy, script: Script): Promise<{ readonly port: number }> {
  const { gateway } = await startTwoProviders(t, { first: script });
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'cert.pem'), LOOPBACK_CERTIFICATE);
  writeFileSync(join(folder, 'cert.key'), LOOPBACK_KEY);
  const port = await freePort();
  const text = readFileSync(join(ROOT, proxy.file), 'utf8');
  const ports = { gateway: Number(new URL(gateway.url).port), tls: port };
  const [program = '', ...args] = proxy.command(text, folder, ports);
  const child = spawn(program, args, { env: { PATH: process.env['PATH'], HOME: folder } });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => (output += more));
  child.stdout.resume();
  t.after(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), 2_000);
    await once(child, 'exit');
    clearTimeout(killer);
  });
  for (let waitedMs = 0; !(await accepts(port)); waitedMs += 20) {
    assert.ok(child.exitCode === null && waitedMs < START_MS_MAX, output);
    await sleep(20);
  }
  return { port };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

function ask(port: number, more: object): Promise<IncomingMessage> {
  return call(port, 'POST', '/v1/chat/completions', {
    model: 'acme/first',
    messages: [{ role: 'user', content: 'hi' }],
    ...more,
  });
}

async function call(port: number, method: string, path: string, body?: object): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
  // A name, since TLS sends none for an address; it is not looked up.
  const lookup = (_name: string, _options: object, done: (error: null, addresses: readonly object[]) => void): void =>
    done(null, [{ address: '127.0.0.1', family: 4 }]);
  request(
    { host: 'localhost', port, method, path, headers, ca: LOOPBACK_CERTIFICATE, agent: false, lookup: lookup as never },
    resolve,
  )
    .on('error', reject)
    .end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += String(piece);
  return text;
}
