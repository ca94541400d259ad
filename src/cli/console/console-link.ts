/** The address that signs in. Behind `#` the secret reaches no server, no log and no other page. */
export function formatConsoleLink(baseUrl: string, secret: string): string {
  return `${callableUrl(baseUrl)}/ui/signin#t=${secret}`;
}

/** An address that listens everywhere is none that can be called everywhere. */
export function callableUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.hostname === '0.0.0.0') parsed.hostname = '127.0.0.1';
  if (parsed.hostname === '[::]') parsed.hostname = '[::1]';
  return parsed.origin;
}
