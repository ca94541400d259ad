import type { ClientAuth, Configuration, IDToken, UserInfoResponse } from 'openid-client';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import type { ProxiedFetch } from '../../lib/net/proxy/proxied-fetch.ts';
import { SecretBoxError, type SecretBox } from '../../lib/secret-box.ts';
import { digestOf, newSecret } from '../console/secrets.ts';
import type { OidcProof } from '../console/sessions.ts';
import type { Identity } from './oidc-users.ts';

/** How the gateway is known to an identity provider. */
export interface OidcClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
}

/** A sign-in that has begun. */
export interface OidcStart {
  /** Where the browser goes. */
  readonly url: string;
  /** For the storage of the page, which no page of another port can read. */
  readonly token: string;
  /** For a cookie: what the provider must send back, sealed. */
  readonly sealed: string;
}

/** Sign-in with an identity provider: the authorization code flow with PKCE, state and nonce. @spec people-12 */
export interface Oidc {
  /** @param origin the address of the dashboard, as the browser has it. @throws GatewayError 502 */
  start(origin: string): Promise<OidcStart>;
  /** @throws GatewayError 401 for what is not the answer to a start of this browser; 502 */
  finish(proof: OidcProof): Promise<Identity>;
}

export interface OidcDeps {
  readonly client: OidcClient;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  /** Gets what was wrong with a provider, which the person that signs in is not shown. */
  readonly onFailed: (error: Error) => void;
  /** Absent: the provider is called directly. */
  readonly fetch?: ProxiedFetch | undefined;
}

/** The page that the provider sends the browser back to. It reads its own address, and calls `POST /ui/api/session`. */
const RETURN_PATH = '/ui/signin/oidc';
const PURPOSE = 'sign-in with an identity provider';
/** @spec people-12 */
const START_LIFE_MS = 600_000;
const CALL_S_MAX = 10;
const METADATA_FRESH_MS = 3_600_000;
const QUERY_CHARS_MAX = 8_192;
const GROUPS_MAX = 1_000;
const TEXT_CHARS_MAX = 200;

/** What the cookie of a start holds. */
interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly tokenHash: string;
  readonly redirectUri: string;
  readonly expiresAtMs: number;
}

export function createOidc(deps: OidcDeps): Oidc {
  const { client, box, clock } = deps;
  const configuration = createConfiguration(deps);
  return {
    async start(origin) {
      const library = await import('openid-client');
      const known = await configuration();
      const token = newSecret();
      const pending: Pending = {
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
        tokenHash: digestOf(token),
        redirectUri: origin + RETURN_PATH,
        expiresAtMs: clock.nowMs() + START_LIFE_MS,
      };
      const url = library.buildAuthorizationUrl(known, {
        redirect_uri: pending.redirectUri,
        scope: client.scopes.join(' '),
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, token, sealed: (await box()).seal(JSON.stringify(pending), PURPOSE) };
    },
    async finish({ query, token, sealed, origin }) {
      const pending = openPending(await box(), sealed);
      const isOurs =
        pending !== undefined &&
        pending.tokenHash === digestOf(token) &&
        pending.expiresAtMs > clock.nowMs() &&
        pending.redirectUri === origin + RETURN_PATH;
      if (!isOurs || query.length > QUERY_CHARS_MAX) throw notBegun();
      const { fetchUserInfo, authorizationCodeGrant } = await import('openid-client');
      const known = await configuration();
      const address = new URL(`${pending.redirectUri}?${query.replace(/^\?/, '')}`);
      return guard(deps, async () => {
        const tokens = await authorizationCodeGrant(known, address, {
          pkceCodeVerifier: pending.verifier,
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw notBegun();
        const isEnough = claims['email'] !== undefined || known.serverMetadata().userinfo_endpoint === undefined;
        const more = isEnough ? {} : await fetchUserInfo(known, tokens.access_token, claims.sub);
        return readIdentity(client, claims, more);
      });
    },
  };
}

/** What the provider says of itself, read with the first sign-in and now and then. */
function createConfiguration(deps: OidcDeps): () => Promise<Configuration> {
  let reading: { readonly atMs: number; readonly found: Promise<Configuration> } | undefined;
  return () => {
    const nowMs = deps.clock.monotonicMs();
    if (reading === undefined || nowMs - reading.atMs > METADATA_FRESH_MS) {
      const found = discover(deps).catch((error: unknown) => {
        throw isAway(deps, error);
      });
      reading = { atMs: nowMs, found };
      // The next sign-in tries again.
      found.catch(() => (reading = undefined));
    }
    return reading.found;
  };
}

async function discover({ client, fetch }: OidcDeps): Promise<Configuration> {
  const { issuer, clientId, clientSecret } = client;
  const library = await import('openid-client');
  const { allowInsecureRequests, ClientSecretBasic, ClientSecretPost, discovery, enableNonRepudiationChecks, None } =
    library;
  // The usual way, unless the provider takes the other one alone. @source OpenID Connect Discovery 1.0, 3
  const withSecret = (secret: string): ClientAuth => {
    const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
    return (server, ...rest) =>
      server.token_endpoint_auth_methods_supported?.includes('client_secret_basic') === false
        ? post(server, ...rest)
        : basic(server, ...rest);
  };
  const address = new URL(issuer);
  // The configuration takes addresses without TLS on this machine alone.
  const isPlain = address.protocol === 'http:';
  return discovery(address, clientId, undefined, clientSecret === undefined ? None() : withSecret(clientSecret), {
    timeout: CALL_S_MAX,
    ...(fetch !== undefined && { [library.customFetch]: fetch }),
    execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
  });
}

function openPending(box: SecretBox, sealed: string | undefined): Pending | undefined {
  if (sealed === undefined) return undefined;
  try {
    const pending = parseJson(box.open(sealed, PURPOSE));
    return isPending(pending) ? pending : undefined;
  } catch (error) {
    if (error instanceof SecretBoxError) return undefined;
    throw error;
  }
}

/** What was sealed has this shape, unless another version sealed it. */
function isPending(value: unknown): value is Pending & Record<string, never> {
  if (!isJsonObject(value)) return false;
  const texts = [value['state'], value['nonce'], value['verifier'], value['tokenHash'], value['redirectUri']];
  return texts.every((text) => typeof text === 'string') && typeof value['expiresAtMs'] === 'number';
}

function readIdentity({ groupsClaim }: OidcClient, claims: IDToken, more: Partial<UserInfoResponse>): Identity {
  const textOf = (name: string): string | undefined => {
    const value = claims[name] ?? more[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const groups = claims[groupsClaim] ?? more[groupsClaim];
  const all: readonly unknown[] = Array.isArray(groups) ? groups : typeof groups === 'string' ? [groups] : [];
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: textOf('email'),
    isEmailVerified: (claims['email_verified'] ?? more['email_verified']) === true,
    firstName: textOf('given_name')?.slice(0, TEXT_CHARS_MAX) ?? null,
    lastName: textOf('family_name')?.slice(0, TEXT_CHARS_MAX) ?? null,
    groups: all.filter((group) => typeof group === 'string').slice(0, GROUPS_MAX),
  };
}

/** What a provider, or a browser between us, does wrong is a refusal; that it is away is said as that. */
async function guard<Value>(deps: OidcDeps, task: () => Promise<Value>): Promise<Value> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const { AuthorizationResponseError, ClientError, ResponseBodyError } = await import('openid-client');
    if (error instanceof AuthorizationResponseError)
      throw new GatewayError('authentication', `The identity provider refused the sign-in: ${error.error}.`, {
        cause: error,
      });
    const isOurs = error instanceof ClientError && !AWAY.has(error.code ?? '');
    if (!isOurs && !(error instanceof ResponseBodyError)) throw isAway(deps, error);
    deps.onFailed(error);
    throw new GatewayError('authentication', NOT_VALID, { cause: error });
  }
}

const NOT_VALID =
  'What the identity provider sent is not valid. Sign in again; if that does not help, the log of the gateway has the reason.';
/** @source openid-client 6.9, `ClientError`: what failed before an answer was there, or was none of such a server */
const AWAY = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
]);

function isAway({ client, onFailed }: OidcDeps, error: unknown): GatewayError {
  if (error instanceof Error) onFailed(error);
  const message = `The identity provider at ${client.issuer} does not respond as one. An operator finds the reason in the log.`;
  return new GatewayError('provider_unavailable', message, { cause: error });
}

function notBegun(): GatewayError {
  return new GatewayError(
    'authentication',
    'This sign-in was not begun in this browser, or took too long. Begin again.',
  );
}
