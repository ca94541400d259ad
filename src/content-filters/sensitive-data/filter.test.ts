import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { BuiltinFilterSlug } from '../../canonical/guardrail-rules.ts';
import { createTextView } from '../text-view.ts';
import { sensitiveData } from './filter.ts';

function find(slug: BuiltinFilterSlug, text: string): readonly string[] {
  const rule = { kind: 'builtin', slug, action: 'flag', label: '[X]', userOnly: false, allowedPhrases: [] } as const;
  const matcher = sensitiveData.matcherOf(rule);
  assert.ok(matcher !== undefined);
  const found = matcher.find(createTextView(text)).map(({ start, end }) => text.slice(start, end));
  if (found.length > 0)
    assert.ok(matcher.mayMatch(createTextView(text).folded.text), 'what is found was not ruled out');
  return found;
}

const FOUND: Readonly<
  Partial<Record<BuiltinFilterSlug, readonly (readonly [text: string, found: readonly string[]])[]>>
> = {
  email: [
    ['Write to ann.lee+news@mail.example.co.uk.', ['ann.lee+news@mail.example.co.uk']],
    ['<ann@example.com>,bob_1@example.org;', ['ann@example.com', 'bob_1@example.org']],
    ['jörg@müller.de', ['jörg@müller.de']],
    ['a\u200bnn@exam\u200bple.com', ['a\u200bnn@exam\u200bple.com']],
    ['ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ', ['ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ']],
    ['postmaster@xn--bcher-kva.xn--p1ai', ['postmaster@xn--bcher-kva.xn--p1ai']],
    ['@handle, x@y, 3@4 and user@localhost', []],
    ['a decorator: @property def x(self)', []],
  ],
  phone: [
    ['+49 30 123456-78', ['+49 30 123456-78']],
    ['Call (415) 555-2671 or 415.555.2672!', ['(415) 555-2671', '415.555.2672']],
    ['1-800-555-2671', ['1-800-555-2671']],
    ['555-123-4567, (555) 123-4567 or 123.456.7890', ['555-123-4567', '(555) 123-4567', '123.456.7890']],
    ['rows of 100 200 3000 and 123 456 7890', []],
    ['020 7946 0958, 01 23 45 67 89, 030/1234567', ['020 7946 0958', '01 23 45 67 89', '030/1234567']],
    ['my mobile: 5552671234', ['5552671234']],
    ['0044 20 7946 0958', ['0044 20 7946 0958']],
    ['at 1700000000 order 5552671234 cost $1,234,567', []],
    ['2026-11-21 09:30:00, version 10.12.1, 192.168.100.200', []],
    ['pages 120-135, 3.14159265, 12/24/2025, 100-200-300', []],
  ],
  ssn: [
    ['078-05-1120 and 219 09 9999', ['078-05-1120', '219 09 9999']],
    ['SSN: 078051120', ['078051120']],
    ['her social security number is 078051120.', ['078051120']],
    ['000-12-3456 666-12-3456 900-12-3456 123-00-4567 123-45-0000', []],
    ['078051120 1-078-05-1120-9 078-05-11201 078-05 1120', []],
  ],
  'credit-card': [
    ['4111 1111 1111 1111', ['4111 1111 1111 1111']],
    ['4111111111111111, 5555-5555-5555-4444', ['4111111111111111', '5555-5555-5555-4444']],
    ['378282246310005 6011111111111117', ['378282246310005', '6011111111111117']],
    ['exp 12 26 4242 4242 4242 4242 123', ['4242 4242 4242 4242']],
    ['4111111111111112', []],
    ['1234567890123452 0.4111111111111111', []],
    ['0000000000000000 41111111111111111111111', []],
  ],
  'ip-address': [
    ['10.0.0.1, 255.255.255.0:80', ['10.0.0.1', '255.255.255.0']],
    ['2001:db8::8a2e:370:7334 and fe80::1', ['2001:db8::8a2e:370:7334', 'fe80::1']],
    ['::ffff:192.0.2.1', ['192.0.2.1', '::ffff:192.0.2.1']],
    ['256.1.1.1 1.2.3 1.2.3.4.5 12:34:56 std::vector a::b ::', []],
  ],
};

suite('sensitive data', () => {
  for (const [slug, cases] of Object.entries(FOUND))
    for (const [text, found] of cases)
      // @spec filter-5
      test(`finds ${slug}: ${JSON.stringify(text)}`, () => {
        const known = (Object.keys(FOUND) as BuiltinFilterSlug[]).find((each) => each === slug);
        assert.ok(known !== undefined);
        assert.deepEqual([...find(known, text)].toSorted(), [...found].toSorted());
      });

  test('stays linear in texts that are made to keep it busy', () => {
    for (const slug of Object.keys(FOUND) as BuiltinFilterSlug[])
      for (const piece of ['1', '1 ', '1-', 'a@', '@', 'a.', '1.', ':', '1:', '(1)', 'call 1', 'ssn ', '\u0430@'])
        assert.doesNotThrow(() => find(slug, piece.repeat(100_000)));
  });
});
