// oxlint-disable-next-line typescript/triple-slash-reference -- the types of a package without any: tests of the dashboard have no other way to them
/// <reference path="./oidc-provider.d.ts" />
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** A person as the provider knows it. Claims that are left out are not sent. */
export interface KnownPerson {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly given_name?: string;
  readonly family_name?: string;
  readonly groups?: readonly string[];
}

export interface IdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** By their subject. */
  readonly people: Map<string, KnownPerson>;
  /** Goes where the browser is sent, as this person. Gives the query with which it comes back, and where it comes back to. */
  signIn(url: string, subject: string): Promise<{ readonly query: string; readonly returnsTo: string }>;
  close(): Promise<void>;
}

/** Of a browser, which says nothing of itself. */
const ANY_SUBJECT = 'somebody';
const CLIENT = 'model-gateway';
const SECRET = 'a secret that the provider knows';
const KEY_BITS = 2_048;
const REDIRECTS_MAX = 10;

/** A provider of OpenID Connect, certified, as others run it: `oidc-provider`. Its people sign in without a form. */
export async function startIdentityProvider(redirectUri: string): Promise<IdentityProvider> {
  const people = new Map<string, KnownPerson>();
  const { promise: started, resolve: start } = Promise.withResolvers<Provider>();
  const server = createServer((request, response) => void serve(request, response));
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/interaction/') === true) await interact(request, response);
    else (await started).callback()(request, response);
  }
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const provider = await started;
    const subject = String(request.headers['x-subject'] ?? ANY_SUBJECT);
    const { params } = await provider.interactionDetails(request, response);
    const grant = new provider.Grant({ accountId: subject, clientId: CLIENT });
    grant.addOIDCScope(String(params['scope']));
    const result = { login: { accountId: subject }, consent: { grantId: await grant.save() } };
    response.writeHead(303, { location: await provider.interactionResult(request, response, result) }).end();
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: KEY_BITS });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT,
        client_secret: SECRET,
        redirect_uris: [redirectUri],
        // Of a native application on this machine any port will do.
        ...(redirectUri.startsWith('http://127.0.0.1/') && { application_type: 'native' }),
        id_token_signed_response_alg: 'RS256',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'k' }] },
    cookies: { keys: ['k'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name', 'groups'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...people.get(accountId) }),
    }),
  });
  start(provider);
  return {
    issuer,
    clientId: CLIENT,
    clientSecret: SECRET,
    people,
    signIn: (url, subject) => follow(url, subject, redirectUri),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** What a browser does: it follows redirects, and keeps cookies. */
async function follow(start: string, subject: string, redirectUri: string) {
  const cookies = new Map<string, string>();
  let url = start;
  for (let step = 0; step < REDIRECTS_MAX; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { 'x-subject': subject, cookie } });
    for (const each of response.headers.getSetCookie()) {
      const [pair = ''] = each.split(';', 1);
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${response.status} ${await response.text()}`);
    const next = new URL(location, url);
    if (next.href.startsWith(redirectUri)) return { query: next.search, returnsTo: next.origin + next.pathname };
    url = next.href;
  }
  throw new Error('The provider leads nowhere.');
}
