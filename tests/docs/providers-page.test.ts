import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderAdapter } from '../../src/providers/contract.ts';
import { ADAPTER_IDS, ADAPTERS } from '../../src/providers/index.ts';
import { checkPart, splitPage } from '../support/docs/generated-page.ts';
import { formatProvidersTable } from '../support/docs/providers-table.ts';

const TABLE = { page: 'providers.md', name: 'providers' } as const;

test('lists the registry on the page of providers', () => {
  checkPart(TABLE, formatProvidersTable());
});

for (const id of ADAPTER_IDS) {
  const { options }: ProviderAdapter = ADAPTERS[id];
  if (options === undefined) continue;
  test(`explains exactly the options of ${id} on the page`, () => {
    const { after } = splitPage(TABLE);
    const section = after.split(/^## /m).find((part) => part.includes(`\`${id}\``) && part.includes('| option'));
    assert.ok(section !== undefined, `there is a section with the options of ${id}`);
    const explained = [...section.matchAll(/^\| `([a-z_]+)`/gm)].map((match) => match[1]);
    assert.deepEqual(explained, Object.keys(options.shape));
  });
}
