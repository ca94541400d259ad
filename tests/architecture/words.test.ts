import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { suite, test } from 'node:test';
import { listOwnFiles } from '../support/architecture/own-files.ts';
import { findPersonalWords, findPersonalWordsOfPage, UNCLEAN } from '../support/architecture/personal-words.ts';
import { findRetiredTexts } from '../support/architecture/retired-texts.ts';
import { findRetiredNames } from '../support/architecture/retired-words.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FOLDERS = ['src', 'tests', 'bench', 'scripts', 'dashboard'] as const;

/** The sources of a folder that people write: types that a document gives are not. */
function listSources(folder: string): readonly string[] {
  return ['.ts', '.tsx'].flatMap((ending) => listOwnFiles(folder, ending)).filter((file) => !file.endsWith('.d.ts'));
}

function isClean(file: string): boolean {
  return !UNCLEAN.some((part) => file === part || file.startsWith(`${part}/`));
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

suite('names', () => {
  for (const folder of FOLDERS)
    test(`hold no retired word: ${folder}`, () => {
      const files = listSources(folder);
      assert.ok(files.length > 10, 'there are sources to look at');
      const found = files.flatMap((file) =>
        findRetiredNames(read(file)).map(({ name, line, instead }) => `${file}:${line}: ${name}: use ${instead}`),
      );
      assert.deepEqual(found, []);
    });

  test('are split into their words', () => {
    const found = findRetiredNames('const drawHTTPBody = NO_WISH + withdrawn + distillable + untilTold;');
    assert.deepEqual(
      found.map(({ name }) => name),
      ['drawHTTPBody', 'NO_WISH', 'untilTold'],
    );
  });

  test('are not judged in comments, strings and regular expressions', () => {
    assert.deepEqual(findRetiredNames("// told\nconst a = 'wish'; const b = /draw/; const c = `till`;"), []);
  });
});

suite('texts', () => {
  const sources = ['src', 'dashboard/src']
    .flatMap((folder) => listSources(folder))
    .filter((file) => isClean(file) && !file.endsWith('.test.ts'));

  test('hold no retired word: messages, prompts and descriptions', () => {
    assert.ok(sources.length > 500, 'there are sources to look at');
    const found = sources.flatMap((file) =>
      findRetiredTexts(read(file)).map(({ words, line, instead }) => `${file}:${line}: ${words}: use ${instead}`),
    );
    assert.deepEqual(found, []);
  });

  test('are judged in strings and templates, but not in names, comments and codes', () => {
    const source = [
      '// The answer of the provider cannot be said.',
      "const answer = 'answer-rescued';",
      "const message = 'The provider ended its answer.';",
      'const other = `${name}: cannot be said in ${format}, so nobody sees it`;',
    ].join('\n');
    assert.deepEqual(
      findRetiredTexts(source).map(({ words, line }) => [words, line]),
      [
        ['cannot be said', 4],
        ['nobody', 4],
        ['answer', 3],
      ],
    );
  });
});

suite('prose', () => {
  const sources = FOLDERS.flatMap((folder) => listSources(folder)).filter(isClean);
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    ...['docs', 'tests', 'bench', 'eval'].flatMap((folder) => listOwnFiles(folder, '.md')),
  ].filter(isClean);

  test('gives programs no words for people: comments and test names', () => {
    assert.ok(sources.length > 500, 'there are sources to look at');
    const found = sources.flatMap((file) =>
      findPersonalWords(read(file)).map(({ word, line }) => `${file}:${line}: ${word}: name the thing`),
    );
    assert.deepEqual(found, []);
  });

  test('gives programs no words for people: pages', () => {
    assert.ok(pages.length > 30, 'there are pages to look at');
    const found = pages.flatMap((file) =>
      findPersonalWordsOfPage(read(file)).map(({ word, line }) => `${file}:${line}: ${word}: name the thing`),
    );
    assert.deepEqual(found, []);
  });

  test('is searched in comments, test names and text, but not in code', () => {
    const source = "/** Whoever asks. */\nconst asked = 'nobody'; // told\ntest('nobody answers', () => {});\n";
    assert.deepEqual(
      findPersonalWords(source).map(({ word, line }) => [word, line]),
      [
        ['Whoever', 1],
        ['told', 2],
        ['nobody', 3],
      ],
    );
    const page = 'A person who reads.\n\n```\nnobody\n```\n`asked`, and "told" are quoted; who is not.\n';
    assert.deepEqual(
      findPersonalWordsOfPage(page).map(({ word, line }) => [word, line]),
      [['who', 6]],
    );
  });
});
