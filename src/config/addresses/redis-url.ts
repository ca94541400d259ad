import { hasOneReading, isDecodable } from './database-url.ts';

/** Said of the variable and of the member alike. The address itself is not repeated: it holds a password. */
export const REDIS_URL_RULE =
  'must be an address such as redis://user:password@host:6379/0, or rediss:// for TLS (in a password, @ is written %40, / is %2F, # is %23, ? is %3F and % is %25)';

/** Said of the variable and of the member alike. */
export const REDIS_PREFIX_RULE = 'must be 1 to 64 letters, digits, - and _';

const PREFIX = /^[\w-]{1,64}$/;
const PROTOCOLS: ReadonlySet<string> = new Set(['redis:', 'rediss:']);
/** None, or the number of a database. */
const PATH = /^(?:\/\d{0,5})?$/;

/** Whether keys may begin with it. */
export function isRedisPrefix(text: string): boolean {
  return PREFIX.test(text);
}

/** Whether this is the address of a Redis. */
export function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text) || !hasOneReading(text)) return false;
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(text);
  if (!PROTOCOLS.has(protocol) || hostname === '' || search !== '' || hash !== '' || !PATH.test(pathname)) return false;
  return isDecodable(username) && isDecodable(password);
}
