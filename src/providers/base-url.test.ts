import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseUrlOfHost, normaliseBaseUrl } from './base-url.ts';

const GROQ = 'https://api.groq.com/openai/v1';
const ZAI = 'https://api.z.ai/api/paas/v4';
const GOOGLE = 'https://generativelanguage.googleapis.com/v1beta/openai';
const UNVERSIONED = 'https://api.example.com/inference';

for (const [given, own, expected] of [
  ['http://127.0.0.1:9101', undefined, 'http://127.0.0.1:9101/v1'],
  ['http://127.0.0.1:9101/', undefined, 'http://127.0.0.1:9101/v1'],
  ['http://127.0.0.1:9101/v1', undefined, 'http://127.0.0.1:9101/v1'],
  ['http://127.0.0.1:9101/v1/', undefined, 'http://127.0.0.1:9101/v1'],
  ['http://127.0.0.1:9101/v1//', undefined, 'http://127.0.0.1:9101/v1'],
  [' http://127.0.0.1:9101/v1 ', undefined, 'http://127.0.0.1:9101/v1'],
  ['https://HOST.example.com:443/OpenAI', undefined, 'https://host.example.com/OpenAI/v1'],
  ['https://host.example.com/openai/v1', undefined, 'https://host.example.com/openai/v1'],
  ['https://host.example.com/v1/openai', undefined, 'https://host.example.com/v1/openai'],
  ['https://host.example.com/v1beta/openai/', undefined, 'https://host.example.com/v1beta/openai'],
  ['https://host.example.com/v1alpha2', undefined, 'https://host.example.com/v1alpha2'],
  ['https://host.example.com/api/paas/v4', undefined, 'https://host.example.com/api/paas/v4'],
  ['https://host.example.com/v10', undefined, 'https://host.example.com/v10'],
  // Looks like a version and is none.
  ['https://host.example.com/vision', undefined, 'https://host.example.com/vision/v1'],
  ['https://host.example.com/v1-proxy', undefined, 'https://host.example.com/v1-proxy/v1'],
  ['https://v1.example.com', undefined, 'https://v1.example.com/v1'],
  ['http://[::1]:8000', undefined, 'http://[::1]:8000/v1'],
  // The provider's own host, more or less complete.
  ['https://api.groq.com', GROQ, GROQ],
  ['https://api.groq.com/', GROQ, GROQ],
  ['https://api.groq.com/openai', GROQ, GROQ],
  ['https://api.groq.com/openai/v1/', GROQ, GROQ],
  ['https://api.z.ai', ZAI, ZAI],
  ['https://api.z.ai/api/paas/', ZAI, ZAI],
  ['https://api.z.ai/api/coding/paas/v4', ZAI, 'https://api.z.ai/api/coding/paas/v4'],
  ['https://generativelanguage.googleapis.com', GOOGLE, GOOGLE],
  ['https://api.groq.com/open', GROQ, 'https://api.groq.com/open/v1'],
  // Another host in place of the provider's.
  ['http://127.0.0.1:9101', GROQ, 'http://127.0.0.1:9101/v1'],
  ['http://127.0.0.1:9101', ZAI, 'http://127.0.0.1:9101/v4'],
  ['https://proxy.example.com/google', GOOGLE, 'https://proxy.example.com/google/v1beta'],
  // A provider without a version has none anywhere.
  ['https://api.example.com/inference/', UNVERSIONED, UNVERSIONED],
  ['https://eu.example.com', UNVERSIONED, 'https://eu.example.com'],
] as const) {
  // @spec catalog-18
  test(`${JSON.stringify(given)}${own === undefined ? '' : ` for ${own}`} is ${expected}`, () => {
    assert.equal(normaliseBaseUrl(given, own), expected);
  });
}

// @spec catalog-18
test('changes nothing of a normalized base URL', () => {
  for (const url of ['http://127.0.0.1:9101', 'https://host.example.com/v1beta/openai/', 'https://host.example.com/x'])
    assert.equal(normaliseBaseUrl(normaliseBaseUrl(url)), normaliseBaseUrl(url));
});

for (const [given, words] of [
  ['', /must be a URL/],
  ['api.example.com/v1', /must be a URL/],
  ['ftp://api.example.com', /http/],
  ['file:///etc/passwd', /http/],
  ['https://user:s3cret@api.example.com', /credentials/],
  ['https://api.example.com/v1?key=s3cret', /query/],
  ['https://api.example.com/v1#top', /fragment/],
] as const) {
  test(`refuses ${JSON.stringify(given)} without repeating it`, () => {
    assert.throws(
      () => normaliseBaseUrl(given),
      (error: unknown) => error instanceof RangeError && words.test(error.message) && !error.message.includes('s3cret'),
    );
  });
}

for (const [given, expected] of [
  ['127.0.0.1', 'http://127.0.0.1:11434/v1'],
  ['127.0.0.1:9000', 'http://127.0.0.1:9000/v1'],
  [':9000', 'http://127.0.0.1:9000/v1'],
  ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
  ['0.0.0.0:9000', 'http://127.0.0.1:9000/v1'],
  ['[::]:9000', 'http://[::1]:9000/v1'],
  ['gpu-box', 'http://gpu-box:11434/v1'],
  ['http://gpu-box:9000', 'http://gpu-box:9000/v1'],
  ['https://ollama.example.com', 'https://ollama.example.com/v1'],
  ['https://example.com/ollama/', 'https://example.com/ollama/v1'],
] as const) {
  test(`reaches the host ${JSON.stringify(given)} at ${expected}`, () => {
    assert.equal(baseUrlOfHost(given, 11_434), expected);
  });
}

test('refuses an invalid host', () => {
  assert.throws(() => baseUrlOfHost('not a host', 11_434), RangeError);
});
