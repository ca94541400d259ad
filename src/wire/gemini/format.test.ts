import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { PathTarget } from '../format.ts';
import { geminiUpstreamFormat } from './format.ts';

const path = (target: PathTarget): string => geminiUpstreamFormat.path(target);

suite('the path', () => {
  for (const [model, expected] of [
    ['gemini-3-flash-preview', '/models/gemini-3-flash-preview:generateContent'],
    ['models/gemini-2.5-pro', '/models/gemini-2.5-pro:generateContent'],
    ['tunedModels/mine-1', '/tunedModels/mine-1:generateContent'],
    ['../../secrets', '/models/secrets:generateContent'],
    ['a/./..//b', '/models/a/b:generateContent'],
    ['a?key=1#x:y', '/models/a%3Fkey%3D1%23x%3Ay:generateContent'],
  ] as const) {
    test(`is ${expected} for ${model}`, () => {
      assert.equal(path({ model, stream: false }), expected);
    });
  }

  test('requests events for a stream', () => {
    assert.equal(path({ model: 'm', stream: true }), '/models/m:streamGenerateContent?alt=sse');
  });

  test('never leads elsewhere', () => {
    const model = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom('..', '.', '/', '%2e', '?', 'a', ':')).map((steps) => steps.join('')),
    );
    fc.assert(
      fc.property(model, (name) => {
        const { href, origin, pathname, search } = new URL(
          `https://host.example/v1beta${path({ model: name, stream: true })}`,
        );
        assert.equal(origin, 'https://host.example');
        assert.match(pathname, /^\/v1beta\/(?:models|tunedModels)\b.*:streamGenerateContent$/);
        assert.equal(search, '?alt=sse');
        assert.ok(!href.includes('#'));
      }),
      { numRuns: 1_000 },
    );
  });
});

suite('an address', () => {
  for (const [url, inlined] of [
    ['https://a.example/a.png', true],
    ['http://a.example/a.png', true],
    ['HTTPS://A.example/a.png', true],
    ['https://www.youtube.com/watch?v=x', false],
    ['https://youtu.be/x', false],
    ['https://youtube.com.evil.example/watch?v=x', true],
    ['https://www.youtube.com/@somebody', true],
    ['gs://bucket/a.mp4', false],
    ['https://generativelanguage.googleapis.com/v1beta/files/abc', false],
    ['data:image/png;base64,AAAA', false],
    ['data:image/svg+xml,%3Csvg/%3E', false],
    // These cannot be fetched: they are refused, and no vendor has to open them.
    ['data:image/png', true],
    ['s3://bucket/a.png', true],
    ['file:///etc/passwd', true],
    ['a.png', true],
  ] as const) {
    test(`${url} is ${inlined ? 'made bytes' : 'left as it is'}`, () => {
      assert.equal(geminiUpstreamFormat.mustInlineUrl?.(url, 'image', {}), inlined);
    });
  }
});
