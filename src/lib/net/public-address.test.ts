import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress, isPublicOrOwnAddress, isPublicWebAddress } from './public-address.ts';

for (const address of ['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '100.63.0.1', '2606:4700::1111', '2a00::1'])
  test(`accepts ${address} as public`, () => {
    assert.ok(isPublicAddress(address));
  });

for (const address of [
  '127.0.0.1',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '168.63.129.16',
  '100.100.100.200',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001:0:1::1',
  '2001:db8::1',
  'localhost',
  '0177.0.0.1',
  '2130706433',
  '',
])
  test(`refuses ${JSON.stringify(address)} as not public`, () => {
    assert.ok(!isPublicAddress(address));
  });

// @spec web-24
test("allows an operator's own network without the clouds' metadata addresses", () => {
  for (const address of [
    '1.1.1.1',
    '127.0.0.1',
    '10.1.2.3',
    '192.168.1.1',
    '::1',
    'fd12::1',
    '::ffff:10.0.0.1',
    '100.101.102.103',
    'fd12::a9fe',
    'fd12::a9fe:0:1',
    '2606:4700::1111',
  ])
    assert.ok(isPublicOrOwnAddress(address), address);
  for (const address of [
    '169.254.169.254',
    '168.63.129.16',
    '100.100.100.200',
    '0.0.0.0',
    'fe80::1',
    'fd00:ec2::254',
    'fd00:0ec2:0:0:0:0:0:254',
    'fd00:ec2::23',
    'fd00:ec2::253',
    'fd20:ce::254',
    'fd20:00ce:0:0:0:0:0:254',
    'fd00:c1::a9fe:a9fe',
    'fd00:42::42',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '0:0:0:0:0:ffff:a9fe:a9fe',
    '::ffff:100.100.100.200',
    '::ffff:6464:64c8',
    '::ffff:168.63.129.16',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::a9fe:a9fe',
    'fd12:3456::a9fe:a9fe',
    '2a00:1234:5678::a9fe:aa17',
    'fe80::a9fe:a9fe%eth0',
    '169.254.170.2',
    '169.254.170.23',
    '192.0.0.192',
    'nonsense',
  ])
    assert.ok(!isPublicOrOwnAddress(address), address);
});

test('accepts pages of the public web and nothing else', () => {
  for (const address of [
    'https://example.com/',
    'http://example.com./a.pdf',
    'https://1.1.1.1:8443/',
    'https://[2606:4700::1111]/',
    'https://local.example.com/',
    'https://user:password@example.com/',
  ])
    assert.ok(isPublicWebAddress(address), address);
  for (const address of [
    'file:///etc/passwd',
    'gopher://example.com/',
    'http://localhost/',
    'http://localhost./',
    'http://redis:6379/',
    'http://metadata.google.internal/',
    'http://printer.local./',
    'http://router.home.arpa/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1./',
    'http://169.254.169.254/latest',
    'http://user@10.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://１２７.0.0.1/',
    'example.com',
    '',
  ])
    assert.ok(!isPublicWebAddress(address), address);
});
