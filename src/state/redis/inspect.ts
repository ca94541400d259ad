import { withTimeout } from '../../lib/async/with-timeout.ts';
import { REDIS_OPTIONS } from './link.ts';

/** What an operator checks before a Redis is used for state. */
export interface RedisFacts {
  readonly version: string;
  /** The duration of one small write. */
  readonly answerMs: number;
  /** Whether it may evict needed keys when memory is short. */
  readonly evicts: boolean;
}

const ANSWER_MS_MAX = 2_000;

/**
 * @param prefix begins all keys
 * @throws Error when it cannot be reached, refuses the credentials, or cannot be written to
 */
export async function inspectRedis(url: string, prefix: string): Promise<RedisFacts> {
  const { Redis } = await import('ioredis');
  const client = new Redis(url, REDIS_OPTIONS);
  let lost: unknown;
  // The reason of a failed connection comes as an event; commands only fail with "closed".
  client.on('error', (error: unknown) => (lost ??= error));
  try {
    await withTimeout(client.connect(), ANSWER_MS_MAX);
    const startedMs = performance.now();
    await withTimeout(client.set(`${prefix}doctor`, '1', 'PX', ANSWER_MS_MAX), ANSWER_MS_MAX);
    const answerMs = performance.now() - startedMs;
    const info = readInfo(await withTimeout(client.info(), ANSWER_MS_MAX));
    const policy = info.get('maxmemory_policy') ?? 'noeviction';
    const evicts = policy !== 'noeviction' && info.get('maxmemory') !== '0';
    return { version: info.get('redis_version') ?? 'unknown', answerMs, evicts };
  } catch (error) {
    throw lost ?? error;
  } finally {
    client.disconnect();
  }
}

function readInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\r\n').map((line) => line.split(':', 2));
  return new Map(lines.flatMap(([name, value]) => (name !== undefined && value !== undefined ? [[name, value]] : [])));
}
