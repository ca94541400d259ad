/** Names of the person's own machine. RFC 8252, 7.3 and 8.3 */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;
const URI_CHARS_MAX = 2_048;

/** Whether a code may be sent there: over TLS, or to a program on the person's own machine. */
export function isRedirectUri(text: string): boolean {
  const url = text.length > URI_CHARS_MAX ? null : URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || text.includes('#')) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
}

/** Whether a client may be sent there: exactly where it said, on any port where that is its own machine. */
export function isAmong(registered: readonly string[], given: string): boolean {
  if (!isRedirectUri(given)) return false;
  if (registered.includes(given)) return true;
  const wanted = withoutPort(given);
  return wanted !== undefined && registered.some((each) => withoutPort(each) === wanted);
}

/** Whether a program on the person's own machine waits there, which any of them may be. */
export function isLoopbackUri(uri: string): boolean {
  return LOOPBACK.test(URL.parse(uri)?.hostname ?? '');
}

/** The port of a program on the person's machine is another one each time. */
function withoutPort(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url === null || url.protocol !== 'http:' || !LOOPBACK.test(url.hostname)) return undefined;
  url.port = '';
  return url.href;
}
