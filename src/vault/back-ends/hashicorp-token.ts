import { readFile } from 'node:fs/promises';
import { isJsonObject } from '../../lib/json.ts';
import { ValueStoreError } from './contract.ts';
import type { CallServer } from './hashicorp-call.ts';

/** By what the gateway signs in at the server. */
export type HashicorpToken =
  | { readonly kind: 'token'; readonly token: string }
  /** A file that the server's agent renews. */
  | { readonly kind: 'file'; readonly path: string }
  /** The service account of a pod. */
  | { readonly kind: 'kubernetes'; readonly role: string; readonly mount: string; readonly jwtPath: string };

type PodToken = Extract<HashicorpToken, { kind: 'kubernetes' }>;

export interface Tokens {
  /** @throws ValueStoreError */
  get(): Promise<string>;
  /** Another token in place of one that was refused; `undefined`: there is no other. @throws ValueStoreError */
  replace(refused: string): Promise<string | undefined>;
}

/** A token is replaced when this share of its life is over. */
const USED_SHARE = 0.66;
const MS_PER_S = 1_000;

export function createTokens(settings: HashicorpToken, callServer: CallServer, nowMs: () => number): Tokens {
  if (settings.kind === 'file') return tokensOfFile(settings.path);
  if (settings.kind === 'kubernetes') return tokensOfPod(settings, callServer, nowMs);
  return { get: () => Promise.resolve(settings.token), replace: () => Promise.resolve(undefined) };
}

function tokensOfFile(path: string): Tokens {
  const read = () => readSecretFile(path);
  return {
    get: read,
    async replace(refused) {
      const now = await read();
      return now === refused ? undefined : now;
    },
  };
}

function tokensOfPod(settings: PodToken, callServer: CallServer, nowMs: () => number): Tokens {
  let login: { readonly token: string; readonly untilMs: number } | undefined;
  let pending: Promise<string> | undefined;
  /** All calls share one. */
  const signIn = (): Promise<string> => (pending ??= signInOnce().finally(() => (pending = undefined)));
  async function signInOnce(): Promise<string> {
    const { token, leaseMs } = await signInAt(settings, callServer);
    login = { token, untilMs: nowMs() + leaseMs * USED_SHARE };
    return token;
  }
  return {
    get: async () => (login !== undefined && nowMs() < login.untilMs ? login.token : signIn()),
    async replace(refused) {
      if (login?.token === refused) login = undefined;
      return login?.token ?? signIn();
    },
  };
}

/** @source developer.hashicorp.com/vault/api-docs/auth/kubernetes, "Login", read 2026-11 */
async function signInAt(
  { role, mount, jwtPath }: PodToken,
  callServer: CallServer,
): Promise<{ readonly token: string; readonly leaseMs: number }> {
  const jwt = await readSecretFile(jwtPath);
  const { status, body } = await callServer('POST', `auth/${mount}/login`, { body: { jwt, role } });
  const auth = isJsonObject(body) ? body['auth'] : undefined;
  if (status !== 200 || !isJsonObject(auth) || typeof auth['client_token'] !== 'string')
    throw new ValueStoreError(`refuses the service account of the gateway (${status})`);
  const seconds = typeof auth['lease_duration'] === 'number' ? auth['lease_duration'] : 0;
  // Zero: the token does not expire.
  return { token: auth['client_token'], leaseMs: seconds > 0 ? seconds * MS_PER_S : Infinity };
}

async function readSecretFile(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new ValueStoreError("cannot be signed in to: the file of the gateway's token cannot be read", { cause });
  }
}
