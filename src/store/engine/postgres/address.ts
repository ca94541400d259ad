const NOT_STATED = 'of this address';

/**
 * `postgres://user@host:5432/name`: what of an address may be said. Without password and parameters, and nothing where a
 * password that is not escaped may have been taken for the host or the name.
 */
export function hidePassword(url: string): string {
  if (!URL.canParse(url)) return NOT_STATED;
  const { protocol, username, host, pathname } = new URL(url);
  if (/[@/]/.test(pathname.slice(1)) || url.split('@').length > 2) return NOT_STATED;
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
