import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseHost } from './hosts.ts';

const parse = (text: string, allowPrivate = false) => {
  const parsed = parseHost(text, { allowPrivate });
  return 'host' in parsed ? parsed.host : parsed.wrong;
};

suite('hosts of secrets', () => {
  // @spec vault-3
  test('normalises case, a final dot and international names', () => {
    assert.equal(parse('API.Example.COM.'), 'api.example.com');
    assert.equal(parse('bücher.example'), 'xn--bcher-kva.example');
  });

  // @spec vault-3
  test('refuses whatever is more, or less, than an exact public name', () => {
    for (const text of [
      'https://api.example',
      'api.example:443',
      'api.example/v1',
      '*.example',
      'u@api.example',
      'a b.example',
    ])
      assert.match(parse(text), /host name alone/, text);
    for (const text of ['127.0.0.1', '127.1', '0x7f.0x1', '2130706433'])
      assert.match(parse(text), /not an address/, text);
    assert.match(parse('[::1]'), /host name alone/);
    for (const text of ['', '.', 'a..example', '-a.example', `${'a'.repeat(64)}.example`, `${'a.'.repeat(127)}example`])
      assert.match(parse(text), /no DNS name/, text);
    for (const text of ['localhost', 'db', 'a.localhost', 'printer.local', 'vault.internal'])
      assert.match(parse(text), /allow_private_hosts/, text);
  });

  // @spec vault-3
  test('admits names of private networks where the operator does, and addresses never', () => {
    assert.equal(parse('localhost', true), 'localhost');
    assert.equal(parse('vault.internal', true), 'vault.internal');
    assert.match(parse('10.0.0.1', true), /not an address/);
  });
});
