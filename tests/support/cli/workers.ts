import { readFileSync } from 'node:fs';
import { Agent, request as callHttp } from 'node:http';
import type { TestContext } from 'node:test';
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts';
import { startGateway, type CliProcess } from './spawn-cli.ts';

/** A gateway with workers. */
export interface GatewayWithWorkers extends CliProcess {
  readonly url: string;
  /** Everything that was logged so far. */
  log(): string;
  /** The process ids of the workers that run now. */
  pids(): readonly number[];
  /** A kept-alive connection of its own, which leads to one of the workers. */
  connect(): Connection;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Connection {
  call(method: string, path: string, body?: object, key?: string): Promise<Answer>;
  close(): void;
}

export async function startWithWorkers(
  t: Pick<TestContext, 'after'>,
  args: readonly string[],
  { env = {}, dataDir }: { readonly env?: Readonly<Record<string, string>>; readonly dataDir?: string } = {},
): Promise<GatewayWithWorkers> {
  const gateway = await startGateway(t, {
    args: ['--workers', '2', ...args],
    env: { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY, ...env },
    ...(dataDir !== undefined && { dataDir }),
  });
  let logged = '';
  gateway.child.stderr?.on('data', (text: string) => (logged += text));
  const { url, child } = gateway;
  return {
    ...gateway,
    log: () => logged,
    connect: () => connectTo(url),
    pids: () =>
      readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  };
}

function connectTo(url: string): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    call: (method, path, body, key = API_KEY) =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const called = callHttp(url + path, { method, agent, headers }, (inbound) => {
          let text = '';
          inbound
            .setEncoding('utf8')
            .on('data', (piece: string) => (text += piece))
            .once('end', () => resolve({ status: inbound.statusCode ?? 0, text }))
            .once('error', reject);
        });
        called.once('error', reject);
        called.end(body && JSON.stringify(body));
      }),
    close: () => agent.destroy(),
  };
}
