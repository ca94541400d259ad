import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { suite, test } from 'node:test';
import { listOwnFiles } from '../support/architecture/own-files.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PAGES = 'docs/spec';
const CODE = ['src', 'tests', 'bench', 'scripts', 'eval'] as const;
const PROSE = ['docs', 'tests', 'bench', 'eval'] as const;
const ROOT_PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'] as const;
const ID = '[a-z]+(?:-[a-z]+)*-\\d+';
const STATEMENT = new RegExp(`^- \\[(${ID})\\] (.+)$`);
/** The mark, and the ids after it with commas between. */
const CITATION = new RegExp(`@spec (${ID}(?:, ${ID})*)`, 'g');
/** The same in a line of its own right above a test or a suite, with other comments between at most. */
const TEST_CITATION = new RegExp(
  `^ *// @spec (${ID}(?:, ${ID})*)\\n(?= *(?://.*\\n *)*(?:test|suite)(?:\\.\\w+)?\\()`,
  'gm',
);
const UNTESTED = ' _(untested)_';
/** A section by its number, of a document that may not be here, or of the texts that the specification was made from. */
const SECTION = /\b([a-z][a-z-]*\.md),? (?:section )?(?:\d|[A-C]\b)|\bseed \d+\.\d|@source (?:seed|reference)\b/g;

interface Statement {
  readonly id: string;
  readonly page: string;
  readonly isUntested: boolean;
}

interface Citation {
  readonly id: string;
  readonly file: string;
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

const pages = listOwnFiles(PAGES).filter((name) => name.endsWith('.md') && !name.endsWith('/README.md'));
const sources = CODE.flatMap((folder) => listOwnFiles(folder)).filter((name) => name.endsWith('.ts'));

function readStatements(page: string): readonly Statement[] {
  return read(page)
    .split('\n')
    .filter((line) => line.startsWith('- ['))
    .map((line) => {
      const [, id, text] = STATEMENT.exec(line) ?? [];
      assert.ok(id !== undefined && text !== undefined, `${page}: no statement: ${line.slice(0, 80)}`);
      return { id, page, isUntested: text.endsWith(UNTESTED) };
    });
}

function readCitations(file: string, citation = CITATION): readonly Citation[] {
  return [...read(file).matchAll(citation)].flatMap(([, ids = '']) => ids.split(', ').map((id) => ({ id, file })));
}

/** The part of an id before its number. */
function prefixOf(id: string): string {
  return id.slice(0, id.lastIndexOf('-'));
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file === 'tests/hostile/suite.ts';
}

suite('the specification', () => {
  const statements = pages.flatMap(readStatements);
  const known = new Set(statements.map(({ id }) => id));
  const citations = sources.flatMap((file) => readCitations(file));

  test('gives each statement an id of its own, and each page a prefix of its own', () => {
    assert.equal(known.size, statements.length, 'an id stands twice');
    const pagesOf = Map.groupBy(statements, ({ id }) => prefixOf(id));
    for (const [prefix, of] of pagesOf) assert.equal(new Set(of.map(({ page }) => page)).size, 1, prefix);
    const prefixesOf = Map.groupBy(statements, ({ page }) => page);
    for (const [page, of] of prefixesOf) assert.equal(new Set(of.map(({ id }) => prefixOf(id))).size, 1, page);
  });

  test('lists every page in its index', () => {
    const index = read(`${PAGES}/README.md`);
    assert.deepEqual(
      pages.filter((page) => !index.includes(`](${path.basename(page)})`)),
      [],
    );
  });

  test('has every statement that the code or another statement cites', () => {
    const unknown = citations.filter(({ id }) => !known.has(id)).map(({ id, file }) => `${file}: ${id}`);
    const mentioned = pages.flatMap((page) =>
      [...read(page).matchAll(new RegExp(`\\[(${ID})\\]`, 'g'))]
        .filter(([, id = '']) => !known.has(id))
        .map(([, id = '']) => `${page}: ${id}`),
    );
    assert.deepEqual([...unknown, ...mentioned], []);
  });

  test('stands in place of every document outside of the repository', () => {
    const texts = [
      ...sources,
      ...PROSE.flatMap((folder) => listOwnFiles(folder)).filter((name) => name.endsWith('.md')),
      ...ROOT_PAGES,
    ];
    const outside = texts.flatMap((file) =>
      [...read(file).matchAll(SECTION)]
        .filter(([, page]) => page === undefined || !existsSync(path.join(ROOT, 'docs', page)))
        .map(([cited]) => `${file}: ${cited}`),
    );
    assert.deepEqual(outside, []);
  });

  test('has a test for each statement that is not marked untested, and for no other', (t) => {
    const tests = sources.filter(isTest).flatMap((file) => readCitations(file, TEST_CITATION));
    const tested = new Set(tests.map(({ id }) => id));
    const untested = statements.filter(({ isUntested }) => isUntested);
    t.diagnostic(
      `${statements.length} statements, ${untested.length} of them untested; cited ${tests.length} times by tests`,
    );
    assert.deepEqual(
      statements.filter(({ id, isUntested }) => isUntested === tested.has(id)).map(({ id, page }) => `${page}: ${id}`),
      [],
    );
  });
});
