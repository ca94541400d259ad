import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { suite, test } from 'node:test';
import { findDashboardViolations } from '../support/architecture/dashboard-rules.ts';
import { ENTRIES_MAX, findLargeFolders } from '../support/architecture/folder-sizes.ts';
import { listOwnFiles } from '../support/architecture/own-files.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FILES = listOwnFiles('dashboard/src');

/** A file, and what its rule says; `undefined`: nothing. */
const PLANTED: readonly (readonly [promise: string, path: string, text: string, violation: string | undefined])[] = [
  ['lets a page import parts', 'pages/keys/columns.ts', "import { Id } from '../../parts/copy.tsx';", undefined],
  [
    'refuses a page that imports another one',
    'pages/keys/columns.ts',
    "import { a } from '../money/page.tsx';",
    'pages/keys/columns.ts:1: may not import the page money',
  ],
  [
    'refuses a part that imports a page',
    'parts/grid.tsx',
    "import {\n  a,\n} from '../pages/keys/page.tsx';",
    'parts/grid.tsx:3: may not import dashboard/src/pages/keys/page.tsx',
  ],
  [
    'refuses an import of the gateway',
    'api/client.ts',
    "import { a } from '../../../src/app.ts';",
    'api/client.ts:1: imports src/app.ts, which is not of the dashboard',
  ],
  ['refuses a call outside of api', 'parts/a.ts', "await fetch('/x');", 'parts/a.ts:1: only api/ calls the gateway'],
  ['lets api call', 'api/a.ts', "await fetch('/x');", undefined],
  ['refuses HTML of a text', 'parts/a.ts', 'a.innerHTML = b;', 'parts/a.ts:1: makes HTML of a text'],
  [
    'refuses a chart library outside of parts',
    'pages/a/b.tsx',
    "import U from 'uplot';",
    'pages/a/b.tsx:1: may not know uplot',
  ],
  [
    'refuses a page without a parser of its address',
    'pages/a/page.tsx',
    '',
    'pages/a/page.tsx:1: a page has its search.ts beside it',
  ],
  [
    'refuses a name that is not kebab-case',
    'parts/TimeChart.tsx',
    '',
    'parts/TimeChart.tsx:1: file names are kebab-case',
  ],
];

suite('the dashboard', () => {
  test('follows its layers', () => {
    const sources = FILES.map((file) => ({ path: file, text: readFileSync(path.join(ROOT, file), 'utf8') }));
    assert.ok(sources.length > 20, 'there are sources to look at');
    assert.deepEqual(findDashboardViolations(sources), []);
  });

  test(`has at most ${ENTRIES_MAX} entries a folder`, () => {
    assert.deepEqual(findLargeFolders(FILES), []);
  });

  for (const [promise, file, text, violation] of PLANTED)
    test(promise, () => {
      const found = findDashboardViolations([{ path: `dashboard/src/${file}`, text }]);
      assert.deepEqual(found, violation === undefined ? [] : [`dashboard/src/${violation}`]);
    });
});
