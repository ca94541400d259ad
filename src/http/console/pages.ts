import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { hasAlready } from '../etag.ts';
import { codingFor, type Asset, type AssetReader } from './assets.ts';
import type { Builder } from './builder.ts';

export interface PagesDeps {
  readonly assets: AssetReader;
  readonly builder: Builder;
}

const ASSETS = '/ui/assets/';
const REPORTS = '/ui/api/csp-report';

/**
 * What the browser enforces: nothing from another host, no script but ours, no HTML made of texts. The one policy of Trusted
 * Types can name the addresses of workers and nothing else: without any Chromium refuses workers. @spec console-14
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src blob:',
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types gateway-worker',
  'report-to csp',
].join('; ');

const FEATURES_OFF = (
  'accelerometer autoplay bluetooth camera display-capture encrypted-media fullscreen gamepad geolocation gyroscope hid ' +
  'idle-detection local-fonts magnetometer microphone midi payment picture-in-picture publickey-credentials-get ' +
  'screen-wake-lock serial usb xr-spatial-tracking'
).split(' ');

const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'reporting-endpoints': `csp="${REPORTS}"`,
  'x-frame-options': 'DENY',
  'permissions-policy': [
    'clipboard-read=(self)',
    'clipboard-write=(self)',
    ...FEATURES_OFF.map((feature) => `${feature}=()`),
  ].join(', '),
} as const;
const IMMUTABLE = 'public, max-age=31536000, immutable';
const BUILDING_REFRESH_S = 1;

/** Serves the pages of the dashboard and what they load. */
export function createPages({ assets, builder }: PagesDeps) {
  /** @throws GatewayError 404, 405 */
  return async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new GatewayError('invalid_request', 'Pages of the dashboard are read with GET.', { status: 405 });
    if (path === '/auth') {
      redirectToConsent(request, response);
      return;
    }
    const { shell, files } = await assets.read();
    if (path.startsWith(ASSETS)) {
      const asset = files.get(path.slice(ASSETS.length));
      if (asset === undefined)
        throw new GatewayError('not_found', `There is no ${path.slice(0, ASSETS.length)} of this name.`);
      sendAsset(request, response, asset, { 'cache-control': IMMUTABLE });
      return;
    }
    builder.heal();
    if (shell === undefined) sendNotice(response, builder.isBuilding());
    else sendAsset(request, response, shell, { 'cache-control': 'no-cache', ...PAGE_HEADERS });
  };
}

/** Applications that want a key send the browser here (docs/administration.md): the page asks its reader. */
function redirectToConsent({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const at = url.indexOf('?');
  response
    .writeHead(302, { location: `/ui/authorize${at < 0 ? '' : url.slice(at)}`, 'cache-control': 'no-store' })
    .end();
}

function sendAsset(
  { headers, method }: IncomingMessage,
  response: ServerResponse,
  asset: Asset,
  more: Readonly<Record<string, string>>,
): void {
  const coding = codingFor(asset, headers['accept-encoding']);
  const bytes = asset.bytes.get(coding) ?? Buffer.alloc(0);
  const { type, etag } = asset;
  const common = { ...more, etag, vary: 'Accept-Encoding' };
  if (hasAlready(headers, etag)) {
    response.writeHead(304, common).end();
    return;
  }
  response.writeHead(200, {
    ...common,
    'content-type': type,
    'content-length': bytes.length,
    ...(coding !== 'identity' && { 'content-encoding': coding }),
  });
  response.end(method === 'HEAD' ? undefined : bytes);
}

/** While nothing was built. It runs no script, and has no style. */
function sendNotice(response: ServerResponse, isBuilding: boolean): void {
  const refresh = isBuilding ? `<meta http-equiv="refresh" content="${BUILDING_REFRESH_S}">` : '';
  const text = isBuilding
    ? '<p>The dashboard is being built. This page loads again by itself.</p>'
    : `<p>The gateway works; its dashboard was not built. To get it, run <code>npm ci &amp;&amp; npm prune --omit=dev</code> in the folder of the
gateway, or use the container image. If <code>dashboard/dist/failed.txt</code> is there, it says why a build failed.</p>
<p>The API is at <code>/v1</code>, its description at <a href="/openapi.json">/openapi.json</a>.</p>`;
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">${refresh}
<title>Model Gateway</title>
<h1>Model Gateway</h1>
${text}
</html>
`;
  response
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': Buffer.byteLength(page),
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
    })
    .end(page);
}
