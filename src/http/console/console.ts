import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ConsoleKeys } from '../../accounts/console/console-keys.ts';
import type { ConsoleSession, SessionSecrets } from '../../accounts/console/sessions.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { checkShape } from '../../wire/gateway/validation/check-shape.ts';
import { BASE_PATH } from '../base-path.ts';
import type { BodyBudget } from '../body-budget.ts';
import { BROWSER_HEADERS } from '../cors.ts';
import type { RawHandler } from '../generation/route.ts';
import { problemBody, type ProblemLog } from '../problem.ts';
import { decodeBody, parseBody } from '../parse-body.ts';
import { readBody } from '../read-body.ts';
import { keepToOrigin, type ConsoleCallers } from './callers.ts';
import type { ConsoleAnswer, ConsoleRoute, ConsoleServices } from './console-route.ts';
import { addressOf, checkHost, checkOrigin, checkTransport, isTls, originOf, type OriginRules } from './origin.ts';
import { openLive, type LiveDeps } from './live.ts';
import { createLiveSight, type KeysOfUser } from './live-sight.ts';
import type { createPages } from './pages.ts';
import { CONSOLE_ROUTES } from './console-routes.ts';
import { SESSION_COOKIE } from './session-routes.ts';
import { NO_BODY } from '../management/route.ts';

export interface ConsoleDeps {
  readonly rules: OriginRules;
  /** Whether workers hand on all requests. */
  readonly isForwarded: boolean;
  readonly services: ConsoleServices;
  readonly keys: ConsoleKeys;
  readonly callers: ConsoleCallers;
  /** Generation routes for sessions, by their path below the version segment. */
  readonly generation: Readonly<Record<string, RawHandler>>;
  readonly bodies: BodyBudget;
  readonly live: LiveDeps;
  readonly keysOf: KeysOfUser;
  readonly pages: ReturnType<typeof createPages>;
  /** A browser refused something that the policy of the pages forbids. */
  readonly onPolicyReport: () => void;
  readonly log: ProblemLog;
}

/** Serves the dashboard and its calls. @param next serves routes of `/v1` */
export type ConsoleListener = (
  request: IncomingMessage,
  response: ServerResponse,
  next: RequestListener,
) => Promise<void>;

const API = '/ui/api';
const API_V1 = `${API}${BASE_PATH}`;
const BODY = { bytesMax: 16_384, idleMs: 5_000, totalMs: 15_000 };
const BODY_OWNER = 'console';
const PATH_CHARS_MAX = 200;
const WORKSPACE_HEADER = 'x-console-workspace';
const TOKEN_HEADER = 'x-console-token';
const BODY_TYPES = /^(?:application\/json|multipart\/form-data)\s*(?:;|$)/i;
/** The application that records of the dashboard's own requests name. */
const APP_TITLE = 'Console';
const TITLE_HEADERS = ['http-referer', 'referer', 'x-title', 'x-service-categories'];

/** @spec console-8 */
export function createConsole(deps: ConsoleDeps): ConsoleListener {
  return async (request, response, next) => {
    keepToOrigin(response);
    const [path = ''] = (request.url ?? '').split('?', 1);
    try {
      checkHost(request, deps.rules);
      if (path === API || path.startsWith(`${API}/`)) await answerCall(deps, request, response, next, path);
      else await deps.pages(request, response, path);
    } catch (error) {
      refuse(deps, error, request, response);
    }
  };
}

const ROUTES = CONSOLE_ROUTES.map((route) => ({ route, pattern: patternOf(route) }));

async function answerCall(
  deps: ConsoleDeps,
  request: IncomingMessage,
  response: ServerResponse,
  next: RequestListener,
  path: string,
): Promise<void> {
  // Browsers send these without the token, and from workers without an origin.
  if (path === `${API}/csp-report` && request.method === 'POST') {
    deps.onPolicyReport();
    response.shouldKeepAlive = false;
    response.writeHead(204).end();
    return;
  }
  checkOrigin(request, deps.rules);
  if (path.startsWith(`${API_V1}/`)) {
    await callRoute(deps, request, response, next, path);
    return;
  }
  if (path === `${API}/live` && request.method === 'GET') {
    const secrets = secretsOf(request);
    const sight = await createLiveSight(() => deps.services.sessions.find(secrets), deps.keysOf);
    openLive(deps.live, sight.session, request, response, () => sight.renew(), sight.sees);
    return;
  }
  const below = path.slice(API.length);
  const found = ROUTES.find(({ route, pattern }) => route.method === request.method && pattern.test(below));
  if (found === undefined) throw noSuchPath(request, path);
  await answer(deps, found.route, paramsOf(found.pattern, below), request, response);
}

/** Hands a request to a route of `/v1`, as one that the session makes. */
async function callRoute(
  deps: ConsoleDeps,
  request: IncomingMessage,
  response: ServerResponse,
  next: RequestListener,
  path: string,
): Promise<void> {
  const session = await deps.services.sessions.find(secretsOf(request));
  checkContentType(request);
  const { headers } = request;
  const workspace = headers[WORKSPACE_HEADER];
  const named = typeof workspace === 'string' ? workspace : undefined;
  deps.callers.admit(headers, { session, generatesAs: () => generatesAs(deps, session, named) });
  for (const name of TITLE_HEADERS) delete headers[name];
  headers['x-service-title'] = APP_TITLE;
  const raw = request.method === 'POST' ? deps.generation[path.slice(API_V1.length)] : undefined;
  if (raw !== undefined) return raw(request, response);
  request.url = (request.url ?? '').slice(API.length);
  next(request, response);
}

function generatesAs({ keys }: ConsoleDeps, session: ConsoleSession, workspace: string | undefined) {
  const { role, principal, viewer } = session;
  return role === 'operator' || viewer !== undefined
    ? keys.of(principal, workspace, viewer)
    : Promise.resolve(principal);
}

async function answer(
  deps: ConsoleDeps,
  route: ConsoleRoute,
  params: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { services, bodies } = deps;
  const secrets = secretsOf(request);
  const session = route.isOpen === true ? undefined : await services.sessions.find(secrets);
  if (route.isOpen === true) checkTransport(request, deps.rules);
  checkContentType(request);
  const checked = checkShape(route.params, params, { root: 'path' });
  const share = bodies.open(BODY_OWNER);
  try {
    const sent = route.body === NO_BODY ? undefined : parseBody(decodeBody(await readBody(request, BODY, share)));
    const { status, body, headers } = await route.handle({
      secrets,
      session,
      params: checked,
      body: checkShape(route.body, sent),
      address: addressOf(request, deps.isForwarded),
      origin: originOf(request),
      cookie: (name) => cookieOf(request.headers.cookie, name),
      userAgent: request.headers['user-agent'] ?? '',
      isTls: isTls(request),
      services,
    });
    send(response, status, body, headers);
  } finally {
    share.release();
  }
}

function refuse(deps: ConsoleDeps, error: unknown, request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, body } = problemBody(error, deps.log);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // What is left of a body that was not read would be taken for the next request.
  if (!request.complete) response.shouldKeepAlive = false;
  send(response, status, body, headers);
}

function send(response: ServerResponse, status: number, body: object, headers: ConsoleAnswer['headers'] = {}): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      ...BROWSER_HEADERS,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      ...headers,
    })
    .end(text);
}

/** A page of another origin sends other types without asking the browser's leave. @throws GatewayError 400 */
function checkContentType({ headers }: IncomingMessage): void {
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  if (!hasBody || BODY_TYPES.test(headers['content-type'] ?? '')) return;
  throw new GatewayError('invalid_request', 'Content-Type: must be application/json or multipart/form-data.');
}

function secretsOf({ headers }: IncomingMessage): SessionSecrets {
  const token = headers[TOKEN_HEADER];
  return { cookie: cookieOf(headers.cookie, SESSION_COOKIE), token: typeof token === 'string' ? token : undefined };
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  const prefix = `${name}=`;
  const pair = (header ?? '').split(';').find((each) => each.trim().startsWith(prefix));
  return pair?.trim().slice(prefix.length);
}

function patternOf({ path }: ConsoleRoute): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

function paramsOf(pattern: RegExp, path: string): unknown {
  return { ...pattern.exec(path)?.groups };
}

function noSuchPath({ method = '' }: IncomingMessage, path: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no ${method} ${path.slice(0, PATH_CHARS_MAX)}. The API is at ${BASE_PATH}.`,
  );
}
