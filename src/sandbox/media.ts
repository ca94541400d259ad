/** Every image, file, recording or video counts as many tokens, whatever its size. */
export const MEDIA_TOKENS = 100;

/** What an answer says of a file that came as base64: `[image image/png 123 bytes]`. */
export function mentionOf(kind: string, mediaType: string, base64: string): string {
  return `[${kind} ${mediaType} ${base64Bytes(base64)} bytes]`;
}

/** The same for a URL, where a `data:` URL is what it holds; `undefined` for one that no vendor would fetch. */
export function mentionOfUrl(kind: string, url: string): string | undefined {
  if (!url.startsWith('data:')) return /^https?:\/\/./i.test(url) ? `[${kind} ${url}]` : undefined;
  const comma = url.indexOf(',');
  const head = url.slice('data:'.length, comma);
  if (comma < 0 || !head.endsWith(';base64')) return undefined;
  return mentionOf(kind, head.slice(0, head.indexOf(';')), url.slice(comma + 1));
}

/** Whether this can be base64, judged by its length, its first letters and its end: media are megabytes. */
export function looksLikeBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/=]+$/.test(text.slice(0, 64) + text.slice(-64));
}

function base64Bytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}
