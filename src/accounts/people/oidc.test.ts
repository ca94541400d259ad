import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import { createOidc } from './oidc.ts';

const ISSUER = 'https://id.example';
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/keys`,
};

// @spec operation-15
test('reads what the provider says of itself through the given fetch, once', async () => {
  const called: string[] = [];
  const oidc = createOidc({
    client: { issuer: ISSUER, clientId: 'gateway', clientSecret: 'secret', scopes: ['openid'], groupsClaim: 'groups' },
    box: () => Promise.resolve({ seal: (text: string) => text } as unknown as SecretBox),
    clock: systemClock,
    onFailed: (error) => assert.fail(error),
    fetch: (url) => {
      called.push(url);
      return Promise.resolve(Response.json(METADATA));
    },
  });
  const { url } = await oidc.start('https://gateway.example');
  await oidc.start('https://gateway.example');
  assert.equal(new URL(url).origin, ISSUER);
  assert.deepEqual(called, [`${ISSUER}/.well-known/openid-configuration`]);
});
