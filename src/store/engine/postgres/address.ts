const NOT_STATED = 'of this address';

/**
 * Formats an address for messages, as `postgres://user@host:5432/name`: without password and parameters. Returns a
 * placeholder where a password that is not escaped may stand in the place of the host or the name.
 */
export function hidePassword(url: string): string {
  if (!URL.canParse(url)) return NOT_STATED;
  const { protocol, username, host, pathname } = new URL(url);
  if (/[@/]/.test(pathname.slice(1)) || url.split('@').length > 2) return NOT_STATED;
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
