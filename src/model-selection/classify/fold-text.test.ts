import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldText } from './fold-text.ts';

suite('a folded text', () => {
  for (const [text, folded] of [
    ['Traduis ÇA en ÉTÉ', 'traduis ca en ete'],
    ['Überschrift, größer', 'uberschrift, großer'],
    ['don’t', "don't"],
    ['Łódź, çalışıyor, Øre', 'lodz, calisiyor, ore'],
    ['Ёлка, найди', 'ёлка, найди'],
    ['データが 한국어 अनुवाद', 'データが 한국어 अनुवाद'],
  ] as const)
    test(`turns ${text} into ${folded}`, () => assert.equal(foldText(text), folded));

  test('is the same with and without accents, however they are written', () => {
    assert.equal(foldText('résumé'), foldText('resume'));
    assert.equal(foldText('e\u0301crire'), foldText('écrire'));
  });
});
