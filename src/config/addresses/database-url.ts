/** Said of the variable and of the member alike. The address itself is not repeated: it holds a password. */
export const DATABASE_URL_RULE =
  'must be an address such as postgres://user:password@host:5432/name (in a password, @ is written %40, / is %2F, # is %23, ? is %3F and % is %25)';

const PROTOCOLS: ReadonlySet<string> = new Set(['postgres:', 'postgresql:']);

/**
 * An address of one reading. Of `postgres://me:12/34@host/db`, whose password has a slash in it, others make the host `me`
 * and the path `/34@host/db`: a part of the password would be looked up as a host, and stand in messages.
 */
const ONE_READING = /^[a-z]+:\/\/(?:[^@/?#]*@)?[^@/?#]*(?:\/[^@/?#]*)?(?:\?[^@#]*)?$/i;

/** Whether the text has only one split into user, password and the rest. */
export function hasOneReading(text: string): boolean {
  return ONE_READING.test(text);
}

/** Whether this is the address of a database of PostgreSQL, its name included. */
export function isDatabaseUrl(text: string): boolean {
  if (!URL.canParse(text) || !hasOneReading(text)) return false;
  const { protocol, pathname, username, password } = new URL(text);
  return PROTOCOLS.has(protocol) && pathname.length > 1 && [username, password, pathname].every(isDecodable);
}

/** A lone percent sign is in every second password that was pasted as it is. */
export function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
