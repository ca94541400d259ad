import { recordCall } from './calls.ts';
import { ApiError, toApiError } from './errors.ts';

const TOKEN_NAME = 'gateway.console-token';
/** The API as a session calls it. */
export const API_ROOT = '/ui/api/v1';
const JSON_TYPE = 'application/json';

/** The half of a session that scripts hold; the other half is a cookie that they cannot read. */
export function readToken(): string | undefined {
  return localStorage.getItem(TOKEN_NAME) ?? undefined;
}

export function writeToken(token: string | undefined): void {
  if (token === undefined) localStorage.removeItem(TOKEN_NAME);
  else localStorage.setItem(TOKEN_NAME, token);
}

function sessionHeaders(): Readonly<Record<string, string>> {
  const token = readToken();
  return token === undefined ? {} : { 'X-Console-Token': token };
}

/** What is done when a session is over. */
let onUnauthorized: (() => void) | undefined;
export function whenUnauthorized(listener: () => void): void {
  onUnauthorized = listener;
}

export function reportUnauthorized(): void {
  onUnauthorized?.();
}

/** `fetch` with the session, for the typed client; every call is kept for `</>`. @throws ApiError for what is no 2xx */
export async function fetchApi(request: Request): Promise<Response> {
  const body = request.body === null ? undefined : await request.clone().text();
  for (const [name, value] of Object.entries(sessionHeaders())) request.headers.set(name, value);
  const response = await send(() => fetch(request));
  const { pathname, search } = new URL(request.url);
  if (pathname.startsWith(API_ROOT)) {
    const path = `${pathname.slice(API_ROOT.length)}${search}`;
    recordCall({ method: request.method, path, body, status: response.status });
  }
  if (!response.ok) await refuse(response);
  return response;
}

/** A call of the console's own routes, and of what has no type. @throws ApiError */
export async function callConsole(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await send(() =>
    fetch(path, {
      method,
      headers: { ...sessionHeaders(), ...(body !== undefined && { 'Content-Type': JSON_TYPE }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  if (!response.ok) await refuse(response, path.startsWith('/ui/api/session'));
  return readBody(response);
}

/** Begins a call whose response is a stream. @throws ApiError */
export async function openStream(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(sessionHeaders())) headers.set(name, value);
  const response = await send(() => fetch(path, { ...init, headers }));
  if (!response.ok) await refuse(response);
  return response;
}

async function send(call: () => Promise<Response>): Promise<Response> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'The gateway does not respond. It may be restarting, or the network is away.');
  }
}

async function refuse(response: Response, isSessionCall = false): Promise<never> {
  const error = toApiError(response, await readBody(response));
  // A call that looks for a session and finds none reports no end of a session.
  if (error.status === 401 && !isSessionCall) reportUnauthorized();
  throw error;
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
