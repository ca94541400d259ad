import assert from 'node:assert/strict';
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../src/lib/json.ts';
import { textAt } from '../byok.ts';
import type { RunningGateway } from '../gateway.ts';
import type { SignedIn } from '../http/console-client.ts';
import { dataOf } from '../http/people-client.ts';

const CALLBACK = 'http://127.0.0.1:33418/callback';

/** What a program keeps that uses the official client. */
export class OauthMemory implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata: OAuthClientMetadata = { client_name: 'Test Editor', redirect_uris: [CALLBACK] };
  clientMetadataUrl?: string;
  /** Where it sent the browser last. */
  sentTo: URL | undefined;
  information: StoredOAuthClientInformation | undefined;
  saved: StoredOAuthTokens | undefined;
  #verifier = '';
  #discovered: OAuthDiscoveryState | undefined;

  state(): string {
    return 'a-state';
  }
  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.information;
  }
  saveClientInformation(information: StoredOAuthClientInformation): void {
    this.information = information;
  }
  tokens(): StoredOAuthTokens | undefined {
    return this.saved;
  }
  saveTokens(tokens: StoredOAuthTokens): void {
    this.saved = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.sentTo = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'tokens') this.saved = undefined;
    if (scope === 'all' || scope === 'client') this.information = undefined;
  }
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }
}

type Mode = 'auto' | 'legacy';

export function transportOf(
  gateway: RunningGateway,
  memory: OauthMemory,
  path = '/mcp',
): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(gateway.url + path), { authProvider: memory });
}

export async function connectWith(transport: StreamableHTTPClientTransport, mode: Mode = 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

/** What a person allows on the consent page. @param location where the gateway sent the browser */
export async function allow(session: SignedIn, location: string, more: JsonObject = {}): Promise<URL> {
  const query = location.slice(location.indexOf('?') + 1);
  const reply = await session.call('POST', '/ui/api/connections', {
    query,
    scopes: ['mcp:read'],
    limit: 5,
    limit_reset: 'monthly',
    expires_at: null,
    ...more,
  });
  assert.equal(reply.status, 201, reply.text);
  return new URL(textAt(dataOf(reply), 'url'));
}

/** The whole way from the first 401 to a client that is connected. */
export async function connectByConsent(
  gateway: RunningGateway,
  memory: OauthMemory,
  session: SignedIn,
  { mode = 'auto', path = '/mcp', ...more }: { readonly mode?: Mode; readonly path?: string } & JsonObject = {},
): Promise<Client> {
  await assert.rejects(connectWith(transportOf(gateway, memory, path), mode), UnauthorizedError);
  assert.ok(memory.sentTo);
  const led = await fetch(memory.sentTo, { redirect: 'manual' });
  assert.equal(led.status, 302, await led.text());
  const back = await allow(session, led.headers.get('location') ?? '', more);
  const transport = transportOf(gateway, memory, path);
  await transport.finishAuth(back.searchParams);
  return connectWith(transportOf(gateway, memory, path), mode);
}
