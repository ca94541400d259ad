// Another gateway under the same load: `--peers`. It is installed into a scratch folder of the cache and is no dependency.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';

import { startServer, type ServerProcess } from './processes.ts';

export const PORTKEY_VERSION = '1.15.2';
/** Later ones break its streams: it reads more of a response than they hand over. */
const NODE_SERVER_VERSION = '1.14.0';
const VERSIONS: Readonly<Record<string, string>> = {
  '@portkey-ai/gateway': PORTKEY_VERSION,
  '@hono/node-server': NODE_SERVER_VERSION,
};
const INSTALL_MS = 180_000;
const REASON_CHARS_MAX = 500;
const HOST = '127.0.0.1';
const folder = path.join(import.meta.dirname, '..', 'node_modules', '.cache', 'bench-peers');

/** Starts it on the core of what is measured; undefined, aloud, where it cannot be installed or does not start. */
export async function startPortkey(
  directory: string,
  note: (line: string) => void,
): Promise<ServerProcess | undefined> {
  try {
    if (!isInstalled()) {
      note(`installing Portkey ${PORTKEY_VERSION}`);
      await install();
    }
    const port = await findFreePort();
    const program = path.join(folder, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');
    return await startServer({
      name: 'portkey',
      args: [program, '--headless', `--port=${port}`],
      cpu: 0,
      directory,
      environment: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production' },
      address: { host: HOST, port },
      hasChannel: false,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    note(`without Portkey: ${reason.slice(0, REASON_CHARS_MAX)}\n`);
    return undefined;
  }
}

/** What its requests name the upstream by. */
export function portkeyHeaders(upstream: ServerProcess): Readonly<Record<string, string>> {
  return {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://${upstream.host}:${upstream.port}/v1`,
  };
}

function isInstalled(): boolean {
  return Object.entries(VERSIONS).every(([name, version]) => {
    try {
      const text = readFileSync(path.join(folder, 'node_modules', name, 'package.json'), 'utf8');
      return text.includes(`"version": "${version}"`);
    } catch {
      return false;
    }
  });
}

/** @throws what npm writes to standard error */
async function install(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const hono = { '@hono/node-server': NODE_SERVER_VERSION };
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ private: true, dependencies: VERSIONS, overrides: hono }),
  );
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  await promisify(execFile)('npm', args, { cwd: folder, timeout: INSTALL_MS });
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return address.port;
}
