import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointHealth } from './health.ts';
import type { CredentialsOf, OwnCredential } from './own-credentials.ts';
import { planRoute, type RoutePlan } from './plan.ts';
import { DEFAULT_PREFERENCES, type ProviderPreferences } from '../canonical/directives.ts';
import { modelOf, priced, reasonsOf, requestOf } from './test-route.ts';
import type { Model } from '../catalog/model.ts';

const HEALTHY: EndpointHealth = { rank: 0, open: false, probeDue: false };
const FAILING: EndpointHealth = { rank: 2, open: true, probeDue: false };

const own = (id: string, changes: Partial<OwnCredential> = {}): OwnCredential => ({
  id,
  label: `...${id}`,
  isFallback: false,
  alwaysUse: false,
  ...changes,
});

interface Given {
  /** By provider. */
  readonly brought?: Readonly<Record<string, readonly OwnCredential[]>>;
  readonly prefer?: Partial<ProviderPreferences>;
  /** Credentials that fail. */
  readonly failing?: readonly string[];
  readonly sticky?: string;
  readonly home?: string;
}

function plan(models: readonly Model[], { brought = {}, prefer, failing = [], sticky, home }: Given): RoutePlan {
  const credentials: CredentialsOf = ({ provider }) => brought[provider] ?? [];
  return planRoute({
    request: requestOf(),
    models,
    preferences: { ...DEFAULT_PREFERENCES, ...prefer },
    formats: { chat: { parameters: new Set() } },
    credentials,
    health: (_endpoint, credential) =>
      credential !== undefined && failing.includes(credential.id) ? FAILING : HEALTHY,
    figures: ({ provider }) => ({
      latency: () => undefined,
      throughput: () => (provider === 'a' ? { p50: 1, p75: 1, p90: 1, p99: 1 } : undefined),
      quality: () => ({ requests: 0, toolRequests: 0, toolFailures: 0 }),
    }),
    random: 0,
    ...(sticky !== undefined && { sticky: () => sticky }),
    ...(home !== undefined && { home }),
  });
}

/** `a` is the gateway's own credential at a, `a#1` another's. */
const shown = ({ candidates }: RoutePlan): string[] =>
  candidates.map(
    ({ endpoint, credential }) => endpoint.provider + (credential === undefined ? '' : `#${credential.id}`),
  );

const abc = modelOf('acme/one', priced('a', 1), priced('b', 1), priced('c', 1));

test('own credentials come first, then shared endpoints, then fallback credentials', () => {
  const brought = { b: [own('1'), own('2')], c: [own('3', { isFallback: true })] };
  assert.deepEqual(shown(plan([abc], { brought })), ['b#1', 'b#2', 'a', 'b', 'c', 'c#3']);
});

test('inside, the order asked for stands', () => {
  const brought = { a: [own('1')], c: [own('2')] };
  const prefer = { order: ['c', 'b', 'a'] };
  assert.deepEqual(shown(plan([abc], { brought, prefer })), ['c#2', 'a#1', 'c', 'b', 'a']);
});

test('all of one model comes before the next model', () => {
  const other = modelOf('acme/two', priced('c', 1));
  assert.deepEqual(shown(plan([abc, other], { brought: { c: [own('1')] } })), ['c#1', 'a', 'b', 'c', 'c#1', 'c']);
});

test('one that is always to be used takes the place of the shared endpoint of its provider alone', () => {
  const brought = { b: [own('1', { alwaysUse: true }), own('2')] };
  assert.deepEqual(shown(plan([abc], { brought })), ['b#1', 'b#2', 'a', 'c']);
});

test('an own credential that fails stands behind the others of its endpoint, and behind everybody who works', () => {
  const brought = { b: [own('1'), own('2')] };
  assert.deepEqual(shown(plan([abc], { brought, failing: ['1'] })), ['b#2', 'a', 'b', 'c', 'b#1']);
});

test('an endpoint that the operator has no credential for is there for those who bring one', () => {
  const model = modelOf('acme/one', priced('a', 1, { lacksCredentials: true }), priced('b', 1));
  assert.deepEqual(shown(plan([model], { brought: { a: [own('1')] } })), ['a#1', 'b']);
  assert.deepEqual(reasonsOf(plan([model], {})), { a: 'credentials' });
});

test('what is ruled out is ruled out with every credential', () => {
  const brought = { b: [own('1')] };
  assert.deepEqual(shown(plan([abc], { brought, prefer: { ignore: ['b'] } })), ['a', 'c']);
});

test('without fallbacks all own credentials of the first endpoint may be tried, and nobody else', () => {
  const prefer = { allowFallbacks: false };
  assert.deepEqual(shown(plan([abc], { brought: { b: [own('1'), own('2')] }, prefer })), ['b#1', 'b#2']);
  assert.deepEqual(shown(plan([abc], { brought: { b: [own('1', { isFallback: true })] }, prefer })), ['a']);
});

test('neither a session nor a conversation’s home goes before what the caller pays itself', () => {
  const brought = { b: [own('1')] };
  assert.deepEqual(shown(plan([abc], { brought, sticky: 'c one-2026' })), ['b#1', 'c', 'a', 'b']);
  assert.deepEqual(shown(plan([abc], { brought, home: 'c' })), ['b#1', 'c', 'a', 'b']);
});

test('a speed that was asked for moves shared endpoints only: nobody measured it with this credential', () => {
  const prefer = { preferredMinThroughput: { p50: 10 } };
  assert.deepEqual(shown(plan([abc], { brought: { a: [own('1')] }, prefer })), ['a#1', 'b', 'c', 'a']);
});
