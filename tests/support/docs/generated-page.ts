import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A page of `docs/` of which a test writes a part: what stands between two marks. */
export interface GeneratedPart {
  /** Below `docs/`. */
  readonly page: string;
  /** Of its marks: `<!-- NAME:begin ... -->` and `<!-- NAME:end -->`. */
  readonly name: string;
}

export interface SplitPage {
  readonly before: string;
  readonly generated: string;
  readonly after: string;
}

/** @throws AssertionError where the page does not have its two marks */
export function splitPage({ page, name }: GeneratedPart): SplitPage {
  const text = readFileSync(pathOf(page), 'utf8');
  const begin = new RegExp(`<!-- ${name}:begin[^>]*-->`).exec(text);
  const end = text.indexOf(`<!-- ${name}:end -->`);
  assert.ok(begin !== null && end > begin.index, `${page} has its two marks`);
  const from = begin.index + begin[0].length;
  return { before: text.slice(0, from), generated: text.slice(from, end).trim(), after: text.slice(end) };
}

/** The part is what it must be. With `UPDATE_GOLDEN=1` it is written (`npm run generate`). */
export function checkPart(part: GeneratedPart, expected: string): void {
  const { before, generated, after } = splitPage(part);
  // The formatter pads tables: one longer row would change every other.
  const kept = `<!-- prettier-ignore-start -->\n${expected}\n<!-- prettier-ignore-end -->`;
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(pathOf(part.page), `${before}\n\n${kept}\n\n${after}`);
  else assert.equal(generated, kept, `docs/${part.page} is out of date: npm run generate`);
}

/** A table of Markdown, a line a row and without padding. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function pathOf(page: string): string {
  return fileURLToPath(new URL(`../../../docs/${page}`, import.meta.url));
}
