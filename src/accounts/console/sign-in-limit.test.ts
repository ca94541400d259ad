import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { createMemoryState } from '../../state/memory/state.ts';
import { addressPrefixOf, createSignInLimit } from './sign-in-limit.ts';

const clock = { nowMs: () => 0, monotonicMs: () => 0 };
const { rateLimitState } = createMemoryState({ clock, textBytesMax: 0, responseRoom: { bytesMax: 0, lifeMs: 0 } });

test('counts an address of IPv6 by its network, and one of IPv4 in either spelling', async () => {
  const limit = createSignInLimit({ rateLimitState, clock, onRefused: () => Promise.resolve() });
  const fail = (address: string) =>
    limit
      .attempt(address, () => Promise.reject(new GatewayError('authentication', 'no')))
      .catch((error: unknown) => (error instanceof GatewayError ? error.status : 0));
  const seen = [];
  for (let each = 0; each < 6; each++) seen.push(await fail(`2001:db8::${each}`));
  assert.deepEqual(seen, [401, 401, 401, 401, 401, 429]);
  assert.equal(await fail('2001:db8:0:1::1'), 401);
  for (let each = 0; each < 5; each++) await fail('192.0.2.1');
  assert.equal(await fail('::ffff:192.0.2.1'), 429);
});

test('does not count a try that the database failed', async () => {
  const limit = createSignInLimit({ rateLimitState, clock, onRefused: () => Promise.resolve() });
  for (let each = 0; each < 8; each++)
    await assert.rejects(
      limit.attempt('198.51.100.1', () => Promise.reject(new GatewayError('provider_overloaded', 'away'))),
      /away/,
    );
});

test('names a network, and never one machine', () => {
  for (const [address, prefix] of [
    ['192.0.2.77', '192.0.2.0/24'],
    ['::ffff:192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2::3', '2001:db8:1::/48'],
    ['::1', '0:0:0::/48'],
    ['', 'unknown'],
  ])
    assert.equal(addressPrefixOf(address ?? ''), prefix);
});
