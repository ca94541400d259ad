import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointHealth } from './health.ts';
import type { CredentialsOf, CallerCredential, RoutePlan } from './route-plan.ts';
import { planCandidates } from './plan.ts';
import { DEFAULT_PREFERENCES, type ProviderPreferences } from '../canonical/directives.ts';
import { modelOf, priced, reasonsOf, requestOf } from '../../tests/support/route-plan.ts';
import type { Model } from '../catalog/model.ts';

const HEALTHY: EndpointHealth = { rank: 0, open: false, probeDue: false };
const FAILING: EndpointHealth = { rank: 2, open: true, probeDue: false };

const own = (id: string, changes: Partial<CallerCredential> = {}): CallerCredential => ({
  id,
  label: `...${id}`,
  isFallback: false,
  alwaysUse: false,
  ...changes,
});

interface Given {
  /** By provider. */
  readonly byok?: Readonly<Record<string, readonly CallerCredential[]>>;
  readonly prefer?: Partial<ProviderPreferences>;
  /** Credentials that fail. */
  readonly failing?: readonly string[];
  readonly sticky?: string;
  readonly home?: string;
}

function plan(models: readonly Model[], { byok = {}, prefer, failing = [], sticky, home }: Given): RoutePlan {
  const credentials: CredentialsOf = ({ provider }) => byok[provider] ?? [];
  return planCandidates({
    request: requestOf(),
    models,
    preferences: { ...DEFAULT_PREFERENCES, ...prefer },
    formats: { chat: { parameters: new Set() } },
    credentials,
    health: (_endpoint, credential) =>
      credential !== undefined && failing.includes(credential.id) ? FAILING : HEALTHY,
    metrics: ({ provider }) => ({
      latency: () => undefined,
      throughput: () => (provider === 'a' ? { p50: 1, p75: 1, p90: 1, p99: 1 } : undefined),
      quality: () => ({ requests: 0, toolRequests: 0, toolFailures: 0 }),
    }),
    random: 0,
    ...(sticky !== undefined && { sticky: () => sticky }),
    ...(home !== undefined && { pinnedProvider: home }),
  });
}

/** `a` is the gateway's own credential at a, `a#1` another's. */
const shown = ({ candidates }: RoutePlan): string[] =>
  candidates.map(
    ({ endpoint, credential }) => endpoint.provider + (credential === undefined ? '' : `#${credential.id}`),
  );

const abc = modelOf('acme/one', priced('a', 1), priced('b', 1), priced('c', 1));

// @spec byok-8
test("tries the caller's credentials first, then shared endpoints, then fallback credentials", () => {
  const byok = { b: [own('1'), own('2')], c: [own('3', { isFallback: true })] };
  assert.deepEqual(shown(plan([abc], { byok })), ['b#1', 'b#2', 'a', 'b', 'c', 'c#3']);
});

// @spec byok-8
test('keeps the requested order inside', () => {
  const byok = { a: [own('1')], c: [own('2')] };
  const prefer = { order: ['c', 'b', 'a'] };
  assert.deepEqual(shown(plan([abc], { byok, prefer })), ['c#2', 'a#1', 'c', 'b', 'a']);
});

test('puts all endpoints of one model before the next model', () => {
  const other = modelOf('acme/two', priced('c', 1));
  assert.deepEqual(shown(plan([abc, other], { byok: { c: [own('1')] } })), ['c#1', 'a', 'b', 'c', 'c#1', 'c']);
});

test('replaces the shared endpoint of its provider only with always_use', () => {
  const byok = { b: [own('1', { alwaysUse: true }), own('2')] };
  assert.deepEqual(shown(plan([abc], { byok })), ['b#1', 'b#2', 'a', 'c']);
});

test('puts a failing BYOK credential after the others of its endpoint, and after all that work', () => {
  const byok = { b: [own('1'), own('2')] };
  assert.deepEqual(shown(plan([abc], { byok, failing: ['1'] })), ['b#2', 'a', 'b', 'c', 'b#1']);
});

test('makes an endpoint without a gateway credential available with BYOK', () => {
  const model = modelOf('acme/one', priced('a', 1, { lacksCredentials: true }), priced('b', 1));
  assert.deepEqual(shown(plan([model], { byok: { a: [own('1')] } })), ['a#1', 'b']);
  assert.deepEqual(reasonsOf(plan([model], {})), { a: 'credentials' });
});

// @spec byok-10
test('excludes an endpoint with every credential', () => {
  const byok = { b: [own('1')] };
  assert.deepEqual(shown(plan([abc], { byok, prefer: { ignore: ['b'] } })), ['a', 'c']);
});

test('tries all BYOK credentials of the first endpoint without fallbacks, and no other', () => {
  const prefer = { allowFallbacks: false };
  assert.deepEqual(shown(plan([abc], { byok: { b: [own('1'), own('2')] }, prefer })), ['b#1', 'b#2']);
  assert.deepEqual(shown(plan([abc], { byok: { b: [own('1', { isFallback: true })] }, prefer })), ['a']);
});

test('puts neither a session nor a conversation’s provider before what the caller pays for', () => {
  const byok = { b: [own('1')] };
  assert.deepEqual(shown(plan([abc], { byok, sticky: 'c one-2026' })), ['b#1', 'c', 'a', 'b']);
  assert.deepEqual(shown(plan([abc], { byok, home: 'c' })), ['b#1', 'c', 'a', 'b']);
});

test('moves only shared endpoints for a requested speed, which was not measured with this credential', () => {
  const prefer = { preferredMinThroughput: { p50: 10 } };
  assert.deepEqual(shown(plan([abc], { byok: { a: [own('1')] }, prefer })), ['a#1', 'b', 'c', 'a']);
});
