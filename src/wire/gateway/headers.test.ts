import assert from 'node:assert/strict';
import test from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { decodeHeaderDirectives } from './headers.ts';

test('decodes no header to no directives', () => {
  assert.deepEqual(decodeHeaderDirectives({}), { serviceMetadata: false, betas: [] });
});

for (const [value, isRequested] of [
  ['enabled', true],
  ['ENABLED', true],
  ['disabled', false],
  ['true', false],
  ['', false],
] as const) {
  test(`'X-Service-Metadata: ${value}' ${isRequested ? 'asks' : 'does not ask'} for metadata`, () => {
    assert.equal(decodeHeaderDirectives({ 'x-service-metadata': value }).serviceMetadata, isRequested);
    assert.equal(decodeHeaderDirectives({ 'x-service-experimental-metadata': value }).serviceMetadata, isRequested);
  });
}

// @spec request-25
test('prefers the newer metadata header to the legacy one', () => {
  const headers = { 'x-service-metadata': 'disabled', 'x-service-experimental-metadata': 'enabled' };
  assert.equal(decodeHeaderDirectives(headers).serviceMetadata, false);
});

// @spec request-19
test('takes a session id of 256 characters, and refuses one more with 400 and the name of the header', () => {
  assert.equal(decodeHeaderDirectives({ 'x-session-id': 's'.repeat(256) }).sessionId?.length, 256);
  assert.throws(
    () => decodeHeaderDirectives({ 'x-session-id': 's'.repeat(257) }),
    (error) => error instanceof GatewayError && error.status === 400 && error.issues?.[0]?.path === 'x-session-id',
  );
});

test('ignores an empty session id', () => {
  assert.ok(!('sessionId' in decodeHeaderDirectives({ 'x-session-id': '' })));
});

// @spec request-29
test('beta tokens are read from either header, trimmed, at most 32 a header', () => {
  assert.deepEqual(decodeHeaderDirectives({ 'anthropic-beta': 'a-1, b-2 ,,c-3' }).betas, ['a-1', 'b-2', 'c-3']);
  assert.deepEqual(decodeHeaderDirectives({ 'x-anthropic-beta': 'a-1' }).betas, ['a-1']);
  assert.deepEqual(decodeHeaderDirectives({ 'x-anthropic-beta': 'a-1', 'anthropic-beta': 'b-2,a-1' }).betas, [
    'a-1',
    'b-2',
  ]);
  assert.equal(decodeHeaderDirectives({ 'anthropic-beta': 'b,'.repeat(500) }).betas.length, 32);
});

test('takes the country of a proxy, else that of the caller, where it is one', () => {
  const countryOf = (headers: Record<string, string>) => decodeHeaderDirectives(headers).app?.country;
  assert.equal(countryOf({ 'cf-ipcountry': 'nz', 'x-service-country': 'DE' }), 'NZ');
  assert.equal(countryOf({ 'cloudfront-viewer-country': 'CH' }), 'CH');
  assert.equal(countryOf({ 'x-service-country': 'DE' }), 'DE');
  for (const none of ['XX', 'T1', '', 'Germany', 'D\u00c4'])
    assert.equal(countryOf({ 'cf-ipcountry': none }), undefined, none);
});

// @spec request-27
test('decodes URL, title and user agent of the application, each under both names', () => {
  assert.deepEqual(
    decodeHeaderDirectives({ 'http-referer': 'https://a.example', 'x-service-title': 'A', 'user-agent': 'cli/1' }).app,
    { url: 'https://a.example', title: 'A', userAgent: 'cli/1' },
  );
  assert.deepEqual(decodeHeaderDirectives({ referer: 'https://b.example', 'x-title': 'B' }).app, {
    url: 'https://b.example',
    title: 'B',
  });
});

// @spec request-28
test('takes the first two known categories', () => {
  const headers = { 'x-service-categories': 'nonsense, cli-agent,GAME, legal,roleplay' };
  assert.deepEqual(decodeHeaderDirectives(headers).app, { categories: ['cli-agent', 'legal'] });
});

// @spec request-27
test('attribution is cut, never refused', () => {
  const app = decodeHeaderDirectives({ 'x-title': 't'.repeat(9_000), 'user-agent': 'u'.repeat(9_000) }).app;
  assert.equal(app?.title?.length, 512);
  assert.equal(app?.userAgent?.length, 512);
});

// @spec request-31
test('takes the first of a header that came twice', () => {
  assert.equal(decodeHeaderDirectives({ 'x-session-id': ['one', 'two'] }).sessionId, 'one');
});
