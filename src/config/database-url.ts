/** Said of the variable and of the member alike. The address itself is not repeated: it holds a password. */
export const DATABASE_URL_RULE =
  'must be an address such as postgres://user:password@host:5432/name (in a password, @ is written %40, / is %2F and % is %25)';

const PROTOCOLS: ReadonlySet<string> = new Set(['postgres:', 'postgresql:']);

/** Whether this is the address of a database of PostgreSQL, its name included. */
export function isDatabaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
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
