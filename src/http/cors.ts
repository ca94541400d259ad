const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  'x-api-key',
  'anthropic-version',
  'anthropic-beta',
  'x-anthropic-beta',
  'anthropic-dangerous-direct-browser-access',
  'http-referer',
  'x-service-metadata',
  'x-service-experimental-metadata',
  'x-service-rescue',
  'x-service-stream-errors',
  'x-service-stream-events',
  'x-service-title',
  'x-title',
  'x-service-categories',
  'x-service-cache',
  'x-service-cache-ttl',
  'x-service-cache-clear',
  'x-session-id',
];

/** What a browser must not make of an answer: another type, a page that runs or loads something, a part of another page. */
export const BROWSER_HEADERS = {
  'x-content-type-options': 'nosniff',
  // Pages of ours bring their style along.
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
} as const;

/** On every answer, so that a browser may call with a key. @spec request-32 */
export const CORS_HEADERS = {
  ...BROWSER_HEADERS,
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'ETag, X-Generation-Id, X-Provider, X-Reasoning-Included, OpenAI-Poll-After-Ms, Request-Id, X-Request-Id, Retry-After, X-Should-Retry, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Service-Cache-Status, X-Service-Cache-Age, X-Service-Cache-TTL, X-Service-Cache-Source-Id',
} as const;

/** The response to a browser's preflight. Vendor SDKs add `x-stainless-*`, hence the request's own list if it has one. */
export function preflightHeaders(requestedHeaders: string | undefined): Record<string, string> {
  const requested =
    requestedHeaders !== undefined && /^[\w\-, ]{1,2000}$/.test(requestedHeaders) ? requestedHeaders : '';
  return {
    ...CORS_HEADERS,
    'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE, HEAD, OPTIONS',
    'access-control-allow-headers': requested === '' ? ALLOWED_HEADERS.join(', ') : requested,
    'access-control-max-age': '86400',
  };
}
