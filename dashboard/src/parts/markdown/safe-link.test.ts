import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeLink } from './safe-link.ts';

test('links to web addresses alone, with the host as the network sees it', () => {
  assert.deepEqual(safeLink('https://example.com/a?b#c'), { href: 'https://example.com/a?b#c', host: 'example.com' });
  assert.equal(safeLink('https://exämple.com/')?.host, 'xn--exmple-cua.com');
});

for (const href of [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:x',
  '//evil.example/',
  '/relative',
  'https://user:secret@bank.example/',
  '',
])
  test(`links nowhere for ${JSON.stringify(href)}`, () => assert.equal(safeLink(href), undefined));
