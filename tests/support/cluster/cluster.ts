import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { redis, useRedis } from '../services/redis.ts';
import { POSTGRES_ENGINES } from '../store/engines.ts';
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts';
import { makeFolder, ROOT, startCli } from '../cli/spawn-cli.ts';

const [engine] = POSTGRES_ENGINES;

/** Whether there are a PostgreSQL and a Redis, without which processes share nothing. */
export const canCluster = engine !== undefined && redis !== undefined;

/** Several gateways behind a TCP balancer, on one PostgreSQL and one Redis: `scripts/cluster.ts`. */
export interface Cluster {
  /** Of the balancer: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** `url` with the version segment. */
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly dataDir: string;
  /** The gateways that have been started, oldest first: some of them may have ended. */
  gateways(): readonly { readonly pid: number; readonly url: string }[];
  /** Standard output up to the first match. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Replaces all gateways, one after the other, and returns when it is done. */
  replaceAll(): Promise<void>;
  /** With an answer that is not good it fails. */
  manage(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  /** Ends the gateways, which store what they have left. The database stays. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** @param yaml the configuration of each gateway */
export async function startCluster(yaml: string, processes = 3): Promise<Cluster> {
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown): void => void ends.push(end) } as Pick<TestContext, 'after'>;
  const place = await engine?.makePlace();
  assert.ok(place?.url !== undefined, 'there is a PostgreSQL');
  t.after(() => place.remove());
  const { url: redisUrl, prefix } = useRedis(t);
  const folder = makeFolder(t);
  const config = join(folder, 'gateway.yaml');
  await writeFile(config, yaml);
  let printed = '';
  let replacements = 0;
  const cluster = startCli(
    t,
    ['--processes', String(processes), '--port', '0', '--', '--config', config, '--data-dir', folder],
    {
      command: [process.execPath, join(ROOT, 'scripts/cluster.ts')],
      env: {
        DATABASE_URL: place.url,
        REDIS_URL: redisUrl,
        REDIS_PREFIX: prefix.slice(1, -2),
        GATEWAY_API_KEY: API_KEY,
        GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY,
      },
    },
  );
  cluster.child.stdout?.on('data', (text: string) => (printed += text));
  const [, url = ''] = await cluster.until(/gateways behind (http:\S+)\n/);
  const baseUrl = `${url}/v1`;
  const stop = async (): Promise<void> => {
    // Only by this signal it takes its gateways with it.
    cluster.child.kill('SIGTERM');
    await cluster.exited;
  };
  return {
    url,
    baseUrl,
    databaseUrl: place.url,
    dataDir: folder,
    gateways: () =>
      [...printed.matchAll(/^\[(\d+)\] .*listening on (http:\S+)$/gm)].map(([, pid, own = '']) => ({
        pid: Number(pid),
        url: own,
      })),
    until: (pattern) => cluster.until(pattern),
    async replaceAll() {
      replacements++;
      const replaced = cluster.until(new RegExp(`(?:all gateways were replaced\\n[^]*){${replacements}}`));
      cluster.child.kill('SIGHUP');
      await replaced;
    },
    async manage(method, path, body) {
      const response = await fetch(baseUrl + path, {
        method,
        // A connection each: every process gets its share.
        headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json', connection: 'close' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      assert.ok(response.ok, text);
      return JSON.parse(text) as Record<string, unknown>;
    },
    stop,
    async close() {
      await stop();
      for (const end of ends.toReversed()) await end();
    },
  };
}
