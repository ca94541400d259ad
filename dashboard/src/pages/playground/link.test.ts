import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import type { ChatMessage } from '../../api/generation/response.ts';
import { decodeLink, encodeLink, LINK_CHARS_MAX } from './link.ts';
import { NO_SETTINGS } from './request/settings.ts';

const MESSAGES: readonly ChatMessage[] = [
  { role: 'user', content: 'Grüße 🌍' },
  {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } }],
  },
  { role: 'tool', content: 'rain', tool_call_id: 'c' },
];
const SETTINGS = { ...NO_SETTINGS, system: 'Be short.', effort: 'high' } as const;

const linkOf = (value: unknown): string => deflateRawSync(JSON.stringify(value)).toString('base64url');

suite('the link of a conversation', () => {
  test('restores settings and messages', async () => {
    const link = await encodeLink({ settings: SETTINGS, threads: [MESSAGES, []] });
    assert.match(link ?? '', /^[\w-]+$/);
    assert.deepEqual(await decodeLink(link ?? ''), { settings: SETTINGS, threads: [MESSAGES, []] });
  });

  test('is empty where nothing was said and nothing set', async () => {
    assert.equal(await encodeLink({ settings: NO_SETTINGS, threads: [[], []] }), '');
  });

  test('is left out where it would be too long', async () => {
    const content = Array.from({ length: LINK_CHARS_MAX }, (_, at) => String.fromCodePoint(33 + ((at * at * 31) % 90)))
      .map((char, at) => char + String(at * 7919))
      .join('');
    assert.equal(await encodeLink({ settings: NO_SETTINGS, threads: [[{ role: 'user', content }]] }), undefined);
  });

  test('of a few bytes that expand to many is refused', async () => {
    const link = linkOf({ threads: [[{ role: 'user', content: 'a'.repeat(8_000_000) }]] });
    assert.ok(link.length < LINK_CHARS_MAX);
    assert.equal(await decodeLink(link), undefined);
  });

  test('that was cut, or is of something else, restores nothing', async () => {
    const link = (await encodeLink({ settings: SETTINGS, threads: [MESSAGES] })) ?? '';
    for (const bad of ['', 'heading', link.slice(0, -9), linkOf([]), linkOf({ threads: 'a' }), '%%%'])
      assert.equal(await decodeLink(bad), undefined, bad);
  });

  test('loses what no conversation has', async () => {
    const threads = [
      [
        { role: 'system', content: 'hidden' },
        { role: 'user', content: 7 },
        { role: 'assistant', content: 'ok', tool_calls: [{ id: 1 }], tool_call_id: 2 },
        'text',
      ],
      'no list',
      [],
      [],
      [],
    ];
    const settings = { preset: 'hidden', effort: 'endless', temperature: 1, sort: 'price', other: 'a' };
    assert.deepEqual(await decodeLink(linkOf({ settings, threads })), {
      settings: { ...NO_SETTINGS, sort: 'price' },
      threads: [[{ role: 'assistant', content: 'ok' }], [], [], []],
    });
  });
});
