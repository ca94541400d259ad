import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createProxyOf, type ConnectTarget } from './proxies.ts';

const HTTPS = 'http://secure.proxy:3128';
const HTTP = 'http://plain.proxy:3128';

function proxyFor(address: string, except: readonly string[] = []): string | undefined {
  const { protocol, hostname, port } = new URL(address);
  const target: ConnectTarget = { protocol, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port };
  return createProxyOf({ https: HTTPS, http: HTTP, except })?.(target)?.origin;
}

suite('the proxy on the way to an address', () => {
  test('is the one of the scheme', () => {
    assert.equal(proxyFor('https://api.example'), HTTPS);
    assert.equal(proxyFor('http://api.example'), HTTP);
    assert.equal(
      createProxyOf({ http: HTTP, except: [] })?.({ protocol: 'https:', hostname: 'api.example' }),
      undefined,
    );
    assert.equal(createProxyOf(undefined), undefined);
  });

  for (const address of ['http://localhost:11434', 'http://127.0.0.1:8000', 'https://127.9.9.9', 'http://[::1]:80'])
    test(`is none to ${address}, this machine`, () => assert.equal(proxyFor(address), undefined));

  const cases: readonly [entry: string, address: string, isExcepted: boolean][] = [
    ['*', 'https://api.example', true],
    ['api.example', 'https://api.example', true],
    ['API.example', 'https://api.example', true],
    ['example', 'https://api.example', true],
    ['.example', 'https://api.example', true],
    ['*.example', 'https://api.example', true],
    ['example', 'https://notexample', false],
    ['api.example', 'https://example', false],
    ['api.example:443', 'https://api.example', true],
    ['api.example:8443', 'https://api.example', false],
    ['api.example:8443', 'https://api.example:8443', true],
    ['10.0.0.7', 'http://10.0.0.7:8000', true],
    ['10.0.0.7', 'http://10.0.0.70', false],
    ['10.0.0.0/8', 'http://10.200.3.4', true],
    ['10.0.0.0/8', 'http://11.0.0.1', false],
    ['10.0.0.0/8', 'http://10.example', false],
    ['fd00::/8', 'http://[fd12::1]', true],
    ['[fd12::1]:8000', 'http://[fd12::1]:8000', true],
    ['10.0.0.0/99', 'http://10.0.0.1', false],
  ];
  for (const [entry, address, isExcepted] of cases)
    test(`is ${isExcepted ? 'none' : 'there'} to ${address} with NO_PROXY=${entry}`, () => {
      assert.equal(proxyFor(address, ['other.test', entry]) === undefined, isExcepted);
    });
});
