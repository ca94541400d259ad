import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';

const URL = process.env['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const CONNECT_MS = 2_000;

/** A real Redis, and a prefix of keys of its own that is deleted after the test. */
export interface TestRedis {
  readonly url: string;
  readonly prefix: string;
}

/** `undefined` without a Redis; the reason is printed once, or thrown where services are required. */
export const redis: Redis | undefined = await connect();

async function connect(): Promise<Redis | undefined> {
  const client = new Redis(URL, { lazyConnect: true, retryStrategy: null, connectTimeout: CONNECT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    // Tests that have run must not keep their process.
    client.stream.unref();
    return client;
  } catch (error) {
    const message = `No Redis at ${URL}: its tests do not run. TEST_REDIS_URL names one, npm run services starts one.`;
    if (process.env['REQUIRE_SERVICES'] === '1') throw new Error(message, { cause: error });
    process.stderr.write(`${message}\n`);
    return undefined;
  }
}

export function useRedis(t: Pick<TestContext, 'after'>): TestRedis {
  const prefix = `{test-${randomUUID()}}:`;
  t.after(async () => {
    for await (const keys of redis?.scanStream({ match: `${prefix}*`, count: 1_000 }) ?? [])
      if (Array.isArray(keys) && keys.length > 0) await redis?.del(...keys.map(String));
  });
  return { url: URL, prefix };
}
