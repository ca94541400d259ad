import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { BuiltinFilterSlug } from '../../canonical/guardrail-rules.ts';
import { createTextView } from '../text-view.ts';
import { entities } from './filter.ts';

function find(slug: BuiltinFilterSlug, text: string): readonly string[] {
  const rule = { kind: 'builtin', slug, action: 'flag', label: '[X]', userOnly: false, allowedPhrases: [] } as const;
  const found = entities.matcherOf(rule)?.find(createTextView(text)) ?? [];
  return [...new Set(found.map(({ start, end }) => text.slice(start, end)))];
}

const NAMES: readonly (readonly [string, readonly string[]])[] = [
  ['My name is Jane Doe and I live here.', ['Jane Doe']],
  ['Dr. Smith met Mrs O’Neill and Prof. van Dyke', ['Smith', 'O’Neill']],
  ['Herr Müller und Frau Dr. Weiß', ['Müller', 'Weiß']],
  ['Email from Michael Johnson to Sarah van der Berg.', ['Michael Johnson', 'Sarah van der Berg']],
  ['Patient: Priya Raman, born in 1980', ['Priya Raman']],
  ['Je m’appelle Jean-Luc Moreau', ['Jean-Luc Moreau']],
  ['Dear Customer Support, Dear Team', []],
  ['Victoria Station, James Street and Washington University', ['Victoria Station']],
  ['The Nobel Prize. New York. JavaScript. Monday Morning.', []],
  ['name: the column, Name: String', []],
];

const ADDRESSES: readonly (readonly [string, readonly string[]])[] = [
  ['He lives at 221B Baker Street, London.', ['221B Baker Street']],
  ['1600 Pennsylvania Ave NW, Washington, DC 20500', ['1600 Pennsylvania Ave NW, Washington, DC 20500']],
  ['Send it to P.O. Box 1234.', ['P.O. Box 1234']],
  ['Musterstraße 12a, 10115 Berlin', ['Musterstraße 12a, 10115 Berlin']],
  ['12 bis, rue de la Paix, 75002 Paris', ['12 bis, rue de la Paix, 75002 Paris']],
  ['Calle de Alcalá 42, Madrid', ['Calle de Alcalá 42']],
  ['5 New Cars Drive well; 3 place settings; 12 easy ways', ['5 New Cars Drive']],
  ['Chapter 12 Road map, 20 Questions', []],
];

suite('entities by local rules', () => {
  for (const [text, found] of NAMES)
    test(`finds a person-name: ${text}`, () => assert.deepEqual(find('person-name', text), found));
  for (const [text, found] of ADDRESSES) test(`address: ${text}`, () => assert.deepEqual(find('address', text), found));

  test('stay linear in texts that are made to keep them busy', () => {
    for (const slug of ['person-name', 'address'] as const)
      for (const piece of ['A', 'Aa ', 'John ', '1 ', '1 A ', 'Dr. ', 'O’', 'my name is ', 'Via ', '12 rue de '])
        assert.doesNotThrow(() => find(slug, piece.repeat(50_000)));
  });
});
