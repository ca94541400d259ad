import { queryOptions } from '@tanstack/react-query';
import { ApiError, isRecord } from './errors.ts';
import { callConsole } from './transport.ts';
import { signIn } from './session.ts';

/** How sessions are opened here, besides with a key. */
export interface SignInWays {
  readonly hasUsers: boolean;
  readonly organization: string | undefined;
  readonly hasPasswords: boolean;
  /** The name of the identity provider. */
  readonly provider: string | undefined;
}

export const signInQuery = queryOptions({
  queryKey: ['sign-in'],
  queryFn: readWays,
  staleTime: Infinity,
  retry: false,
});

async function readWays(): Promise<SignInWays> {
  const body = await callConsole('GET', '/ui/api/sign-in');
  const data = isRecord(body) && isRecord(body['data']) ? body['data'] : {};
  const provider = isRecord(data['oidc']) ? data['oidc']['name'] : undefined;
  return {
    hasUsers: data['organization'] === true,
    organization: typeof data['name'] === 'string' ? data['name'] : undefined,
    hasPasswords: data['password'] === true,
    provider: typeof provider === 'string' ? provider : undefined,
  };
}

/** Where the identity provider sends the browser back to. */
export const RETURN_PATH = '/ui/signin/oidc';
const TOKEN_NAME = 'gateway.oidc-token';
const PLACE_NAME = 'gateway.oidc-place';

/** Leaves for the identity provider. What stays in this tab is known to this address alone. @throws ApiError */
export async function leaveForProvider(): Promise<void> {
  const body = await callConsole('POST', '/ui/api/session/oidc');
  const data = isRecord(body) && isRecord(body['data']) ? body['data'] : {};
  const { token, url } = data;
  if (typeof token !== 'string' || typeof url !== 'string') throw new ApiError(0, 'The gateway began no sign-in.');
  sessionStorage.setItem(TOKEN_NAME, token);
  const isPlace = !location.pathname.startsWith('/ui/signin') && location.pathname !== '/ui/invitation';
  sessionStorage.setItem(PLACE_NAME, isPlace ? `${location.pathname}${location.search}` : '/');
  location.assign(url);
}

/** Opens a session with what the provider sent. The address is cleared at once. @throws ApiError */
export async function returnFromProvider(): Promise<void> {
  const query = location.search;
  history.replaceState(undefined, '', location.pathname);
  const token = sessionStorage.getItem(TOKEN_NAME);
  sessionStorage.removeItem(TOKEN_NAME);
  if (token === null) throw new ApiError(401, 'This sign-in was not begun in this tab. Begin again.');
  await signIn({ oidc: { query, token } });
}

/** The page that a sign-in began on. Only a path of this address is taken. */
export function placeBefore(): string {
  const place = sessionStorage.getItem(PLACE_NAME) ?? '/';
  sessionStorage.removeItem(PLACE_NAME);
  return /^\/(?![/\\])/.test(place) ? place : '/';
}

export interface Invitation {
  readonly email: string;
  readonly isAdmin: boolean;
  /** False: the user is there, and chooses another password. */
  readonly isNew: boolean;
  readonly organization: string | undefined;
}

/** What a link is for. @throws ApiError */
export async function readInvitation(token: string): Promise<Invitation> {
  const body = await callConsole('POST', '/ui/api/invitation', { token });
  const data = isRecord(body) && isRecord(body['data']) ? body['data'] : {};
  return {
    email: typeof data['email'] === 'string' ? data['email'] : '',
    isAdmin: data['role'] === 'org:admin',
    isNew: data['is_new'] === true,
    organization: typeof data['organization'] === 'string' ? data['organization'] : undefined,
  };
}

/** @throws ApiError */
export async function changePassword(change: { readonly current: string; readonly next: string }): Promise<void> {
  await callConsole('POST', '/ui/api/password', change);
}
