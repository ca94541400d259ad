import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../lib/json.ts';
import { parseCacheHeaders, parseCacheSetting, type CachingPreset } from './response-cache.ts';

const read = (headers: Readonly<Record<string, string>>) => parseCacheHeaders((name) => headers[name]);
const presetWith = (config: JsonObject, systemPrompt: string | null = null): CachingPreset => ({
  config,
  systemPrompt,
});
const ON = read({ 'x-service-cache': 'true' });
const OFF = read({ 'x-service-cache': 'false' });
const digest = (text: string, preset?: CachingPreset) => parseCacheSetting(ON, preset, text)?.bodyDigest;

suite('headers of the response cache', () => {
  for (const [written, ttlS] of [
    ['60', 60],
    ['60abc', 60],
    ['1.5', 1],
    ['0', 1],
    ['-4', 1],
    ['86401', 86_400],
    ['9'.repeat(400), 86_400],
    ['abc', undefined],
    ['', undefined],
  ] as const)
    // @spec cache-2
    test(`decodes a TTL of ${JSON.stringify(written.slice(0, 12))} as ${ttlS ?? 'absent'}`, () => {
      assert.equal(read({ 'x-service-cache': 'true', 'x-service-cache-ttl': written })?.ttlS, ttlS);
    });

  test('switches by true and false only, in any case', () => {
    assert.equal(read({ 'x-service-cache': 'TRUE' })?.enabled, true);
    assert.equal(read({ 'x-service-cache': 'False' })?.enabled, false);
    for (const word of ['1', 'yes', 'on', '']) assert.equal(read({ 'x-service-cache': word }), undefined);
  });
});

suite('whether a response is cached', () => {
  for (const [title, headers, preset, ttlMs] of [
    ['off where the request does not ask for it', undefined, undefined, undefined],
    ['on by the header', ON, undefined, 300_000],
    ['on by the preset', undefined, presetWith({ cache_enabled: true }), 300_000],
    ['the header can refuse what the preset wants', OFF, presetWith({ cache_enabled: true }), undefined],
    ['the preset can refuse what the header wants', ON, presetWith({ cache_enabled: false }), undefined],
    ['the time of the preset', ON, presetWith({ cache_ttl_seconds: 9 }), 9_000],
    [
      'the time of the header before it',
      read({ 'x-service-cache': 'true', 'x-service-cache-ttl': '7' }),
      presetWith({ cache_ttl_seconds: 9 }),
      7_000,
    ],
    ['a time alone switches nothing on', read({ 'x-service-cache-ttl': '7' }), undefined, undefined],
    ['nor does clearing', read({ 'x-service-cache-clear': 'true' }), undefined, undefined],
  ] as const)
    test(title, () => assert.equal(parseCacheSetting(headers, preset, '{}')?.ttlMs, ttlMs));
});

suite('what makes two bodies the same', () => {
  // @spec cache-3
  test('white space between tokens does not count, within texts it does', () => {
    assert.equal(digest('{"a": [1, 2],\n "b": "x y"}'), digest('{"a":[1,2],"b":"x y"}'));
    assert.notEqual(digest('{"b":"x y"}'), digest('{"b":"x  y"}'));
  });

  // @spec cache-3
  test('distinguishes the order of members and every digit of a number', () => {
    assert.notEqual(digest('{"a":1,"b":2}'), digest('{"b":2,"a":1}'));
    assert.notEqual(digest('{"a":12345678901234567890}'), digest('{"a":12345678901234567891}'));
  });

  test('distinguishes presets by their content', () => {
    const one = presetWith({ temperature: 0 }, 'Be kind.');
    assert.equal(digest('{}', one), digest('{}', presetWith({ temperature: 0 }, 'Be kind.')));
    assert.notEqual(digest('{}', one), digest('{}'));
    assert.notEqual(digest('{}', one), digest('{}', presetWith({ temperature: 1 }, 'Be kind.')));
    assert.notEqual(digest('{}', one), digest('{}', presetWith({ temperature: 0 }, 'Be brief.')));
  });
});
