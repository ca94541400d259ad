import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Schemas } from './client.ts';
import { ApiError, isRecord } from './errors.ts';
import { callConsole, readToken, writeToken } from './transport.ts';

export type Session = Schemas['ConsoleSession'];

/** Whose session it is. */
export function nameOfSession({ subject: { name, label } }: Session): string {
  return name ?? label ?? 'a key that is not valid any more';
}

/** Which pages there are for a session. */
export type Sight = 'operator' | 'admin' | 'user' | 'key';

/** Operators see all. A user sees its workspaces, and more where it administers one; a key what it may use. */
export function sightOf({ role, workspaces }: Session): Sight {
  if (role === 'operator') return 'operator';
  if (workspaces === null) return 'key';
  return workspaces.some((workspace) => workspace.role === 'admin') ? 'admin' : 'user';
}

export interface Console {
  readonly session: Session;
  /** Sign-in without TLS beyond this machine is allowed. */
  readonly isPlainHttp: boolean;
  readonly version: string;
}

const SESSION_URL = '/ui/api/session';
const channel = new BroadcastChannel('gateway.session');

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: readConsole,
  staleTime: 60_000,
  retry: false,
});

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async (): Promise<readonly Session[]> => {
    const body = await callConsole('GET', '/ui/api/sessions');
    return isRecord(body) && Array.isArray(body['data']) ? body['data'].filter(isSession) : [];
  },
});

function isSession(value: unknown): value is Session {
  return isRecord(value) && isRecord(value['subject']) && typeof value['id'] === 'string';
}

async function readConsole(): Promise<Console> {
  if (readToken() === undefined) throw new ApiError(401, 'You are not signed in.');
  const body = await callConsole('GET', SESSION_URL);
  if (!isRecord(body) || !isSession(body['data'])) throw new ApiError(0, 'This address has no console.');
  return {
    session: body['data'],
    isPlainHttp: body['plain_http'] === true,
    version: typeof body['version'] === 'string' ? body['version'] : '',
  };
}

/** What opens a session: a key, the text of a one-time link, or what proves a user. */
export type Proof =
  | { readonly key: string }
  | { readonly link: string }
  | { readonly email: string; readonly password: string }
  | { readonly invitation: { readonly token: string; readonly password: string } }
  | { readonly oidc: { readonly query: string; readonly token: string } };

/** @throws ApiError */
export async function signIn(proof: Proof): Promise<void> {
  const body = await callConsole('POST', SESSION_URL, proof);
  const data = isRecord(body) && isRecord(body['data']) ? body['data'] : {};
  if (typeof data['token'] !== 'string') throw new ApiError(0, 'The gateway responded without a session.');
  writeToken(data['token']);
  channel.postMessage('in');
}

export async function signOut(): Promise<void> {
  try {
    await callConsole('DELETE', SESSION_URL);
  } finally {
    writeToken(undefined);
    channel.postMessage('out');
  }
}

export async function endSession(id: string): Promise<void> {
  await callConsole('DELETE', `/ui/api/sessions/${encodeURIComponent(id)}`);
}

/** Other tabs sign in and out with this one. */
export function whenSessionChanges(listener: () => void): () => void {
  channel.addEventListener('message', listener);
  return () => channel.removeEventListener('message', listener);
}

/** The signed-in console; below the layout there is always one. */
export function useConsole(): {
  readonly session: Session | undefined;
  readonly isOperator: boolean;
  readonly sight: Sight;
} {
  const { data } = useQuery(sessionQuery);
  const session = data?.session;
  return { session, isOperator: session?.role === 'operator', sight: session === undefined ? 'key' : sightOf(session) };
}
