import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import type { ProviderAdapter } from '../src/providers/contract.ts';
import { ADAPTER_IDS, ADAPTERS } from '../src/providers/index.ts';
import { drawProvidersTable } from './support/providers-table.ts';

const PAGE = fileURLToPath(new URL('../docs/providers.md', import.meta.url));
const BEGIN =
  '<!-- providers:begin: filled from the registry, UPDATE_GOLDEN=1 node --test tests/providers-page.test.ts -->';
const END = '<!-- providers:end -->';

function splitPage(): { readonly before: string; readonly table: string; readonly after: string } {
  const text = readFileSync(PAGE, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)];
  assert.ok(begin > BEGIN.length && end > begin, 'the page has its two marks');
  return { before: text.slice(0, begin), table: text.slice(begin, end).trim(), after: text.slice(end) };
}

test('the page of providers lists the registry', () => {
  const { before, table, after } = splitPage();
  const drawn = drawProvidersTable();
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, `${before}\n\n${drawn}\n\n${after}`);
  else assert.equal(table, drawn);
});

for (const id of ADAPTER_IDS) {
  const { options }: ProviderAdapter = ADAPTERS[id];
  if (options === undefined) continue;
  test(`the page explains each option of ${id}, and no other`, () => {
    const { after } = splitPage();
    const section = after.split(/^## /m).find((part) => part.includes(`\`${id}\``) && part.includes('| option'));
    assert.ok(section !== undefined, `there is a section with the options of ${id}`);
    const explained = [...section.matchAll(/^\| `([a-z_]+)`/gm)].map((match) => match[1]);
    assert.deepEqual(explained, Object.keys(options.shape));
  });
}
