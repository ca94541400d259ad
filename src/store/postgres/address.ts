/** `postgres://user@host:5432/name`: what of an address may be said. Without password and parameters. */
export function hidePassword(url: string): string {
  if (!URL.canParse(url)) return 'of this address';
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
