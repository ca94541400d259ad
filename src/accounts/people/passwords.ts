import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../canonical/gateway-error.ts';

/** Stored passwords: scrypt, with salt and cost beside each, so that the cost can be raised later. @spec people-6 */
export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * Whether it is the password. Takes as long for a user without one: nothing is learned from the time.
   * @throws GatewayError 503 while too many are checked
   */
  check(password: string, stored: string | null): Promise<boolean>;
}

/** 32 MB and some 100 ms each. @source OWASP Password Storage Cheat Sheet, read 2026-11: N 2^15, r 8, p 3 */
const COST = { N: 32_768, r: 8, p: 3 };
const MEMORY_BYTES_MAX = 67_108_864;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Threads of the process that hash; those that wait hold no memory of theirs. */
const AT_ONCE_MAX = 2;
const WAITING_MAX = 20;
const RETRY_AFTER_MS = 2_000;
const STORED = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

export function createPasswords(): Passwords {
  const turns = createTurns();
  const derive = (password: string, salt: Buffer, cost: typeof COST, bytes: number): Promise<Buffer> =>
    turns(
      () =>
        new Promise((resolve, reject) => {
          // The same text in two spellings of Unicode is the same password.
          const options = { ...cost, maxmem: MEMORY_BYTES_MAX };
          scrypt(password.normalize('NFKC'), salt, bytes, options, (error, key) =>
            error === null ? resolve(key) : reject(error),
          );
        }),
    );
  const absent = { salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES), cost: COST };
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      const key = await derive(password, salt, COST, HASH_BYTES);
      return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$');
    },
    async check(password, stored) {
      const known = stored === null ? undefined : parseStored(stored);
      const { salt, hash, cost } = known ?? absent;
      const isSame = timingSafeEqual(await derive(password, salt, cost, hash.length), hash);
      return known !== undefined && isSame;
    },
  };
}

function parseStored(stored: string) {
  const [, n, r, p, salt = '', hash = ''] = STORED.exec(stored) ?? [];
  if (n === undefined) return undefined;
  return {
    cost: { N: Number(n), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  };
}

/** Runs a few tasks at a time, and refuses those that would wait behind too many. */
function createTurns() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <Value>(task: () => Promise<Value>): Promise<Value> => {
    if (running >= AT_ONCE_MAX) {
      if (waiting.length >= WAITING_MAX)
        throw new GatewayError('provider_overloaded', 'Too many people sign in at this moment. Try again.', {
          retryAfterMs: RETRY_AFTER_MS,
        });
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
