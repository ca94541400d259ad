import assert from 'node:assert/strict';
import test from 'node:test';
import { fileParserOptions } from './options.ts';

const TAKEN: readonly Readonly<Record<string, unknown>>[] = [
  { pdf: {} },
  { pdf: { engine: 'mistral-ocr' } },
  { pdf: { engine: 'cloudflare-ai' } },
  { pdf: { engine: 'native' } },
  { pdf: { engine: 'pdf-text' } },
];

/** Options with the path of the one issue that they have. */
const REFUSED: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{ pdf: { engine: 'magic' } }, 'pdf.engine'],
  [{ pdf: 'native' }, 'pdf'],
  [{ pdf: null }, 'pdf'],
];

for (const options of TAKEN) {
  test(`accepts ${JSON.stringify(options).slice(0, 70)} as written`, () => {
    assert.deepEqual(fileParserOptions.parse(options), options);
  });
}

for (const [options, path] of REFUSED) {
  test(`refuses ${JSON.stringify(options).slice(0, 70)} at ${path}`, () => {
    const { error } = fileParserOptions.safeParse(options);
    assert.deepEqual(
      error?.issues.map((issue) => issue.path.join('.')),
      [path],
    );
  });
}
