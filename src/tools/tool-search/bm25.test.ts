import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createRanking } from './bm25.ts';

const TOOLS = [
  { name: 'getWeather', text: 'getWeather\nTells the weather of a city.' },
  { name: 'send_mail', text: 'send_mail\nSends a letter to a city, a street or a person.' },
  { name: 'list_cities', text: 'list_cities\nNames cities.' },
  { name: 'noise', text: 'noise\nDoes nothing at all.' },
];
const find = (query: string): readonly string[] =>
  createRanking(TOOLS)
    .find(query)
    .map((at) => TOOLS[at]?.name ?? '');

suite('the ranking of tools by words', () => {
  test('finds words of names, however they are written, and of descriptions', () => {
    assert.deepEqual(find('WEATHER'), ['getWeather']);
    assert.deepEqual(find('mails'), ['send_mail']);
    assert.deepEqual(find('a letter, please'), ['send_mail', 'getWeather']);
  });

  test('puts the tool first that says the word more often, in fewer words, and in its name', () => {
    assert.deepEqual(find('weather city'), ['getWeather', 'send_mail']);
    const twice = createRanking([
      { name: 'one', text: 'one tide' },
      { name: 'two', text: 'two tide tide' },
      { name: 'tide', text: 'tide and other words' },
    ]);
    assert.deepEqual(twice.find('tide'), [2, 1, 0]);
  });

  test('finds nothing without a common word, and keeps the order among equals', () => {
    assert.deepEqual(find('xylophone'), []);
    assert.deepEqual(find('?!'), []);
    const equal = createRanking(['a', 'b', 'c'].map((name) => ({ name, text: `${name} same` })));
    assert.deepEqual(equal.find('same'), [0, 1, 2]);
    assert.deepEqual(createRanking([]).find('same'), []);
  });
});
