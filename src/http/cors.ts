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
  'x-service-title',
  'x-title',
  'x-service-categories',
  'x-service-cache',
  'x-service-cache-ttl',
  'x-service-cache-clear',
  'x-session-id',
];

/** On every answer, so that a browser may call with a key. @source generation.md 9.2 */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'ETag, X-Generation-Id, Request-Id, X-Request-Id, Retry-After, X-Should-Retry, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Service-Cache-Status, X-Service-Cache-Age, X-Service-Cache-TTL, X-Service-Cache-Source-Id',
} as const;

/** What a browser's preflight asks for. Vendor SDKs add `x-stainless-*`, hence the request's own list where it has one. */
export function preflightHeaders(requestedHeaders: string | undefined): Record<string, string> {
  const asked = requestedHeaders !== undefined && /^[\w\-, ]{1,2000}$/.test(requestedHeaders) ? requestedHeaders : '';
  return {
    ...CORS_HEADERS,
    'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE, HEAD, OPTIONS',
    'access-control-allow-headers': asked === '' ? ALLOWED_HEADERS.join(', ') : asked,
    'access-control-max-age': '86400',
  };
}
