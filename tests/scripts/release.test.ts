import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { suite, test } from 'node:test';
import { formatNotes, isNewer, isVersion, readSections, releaseChangelog } from '../../scripts/release/notes.ts';
import { ROOT } from '../support/cli/spawn-cli.ts';

const CHANGELOG = `# Changelog

Dates are UTC.

## Unreleased

### Routing

- **api** a route,
  in two lines
- **config** **migration** a table

### Command line

- a command

## 0.1.0 (2026-11-22)

- the first
`;

suite('the notes of a release', () => {
  test('are what is unreleased, by area', () => {
    assert.equal(
      formatNotes(CHANGELOG, '0.2.0'),
      `# Model Gateway 0.2.0

## Routing

- **api** a route,
  in two lines
- **config** **migration** a table

## Command line

- a command
`,
    );
  });

  test('have every entry of the changelog of this repository', () => {
    const changelog = readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
    const { text = '' } = readSections(changelog).find(({ title }) => title === 'Unreleased') ?? {};
    const entries = text.split('\n').filter((line) => line.startsWith('- '));
    const notes = formatNotes(changelog, '9.9.9').split('\n');
    for (const entry of entries)
      assert.equal(notes.filter((line) => line === entry).length, entries.filter((one) => one === entry).length, entry);
  });

  test('come from a section that gets its version, and leaves an empty one', () => {
    const released = releaseChangelog(CHANGELOG, '0.2.0', '2026-12-01');
    assert.deepEqual(
      readSections(released).map(({ title }) => title),
      ['Unreleased', '0.2.0 (2026-12-01)', '0.1.0 (2026-11-22)'],
    );
    assert.equal(readSections(released)[1]?.text.split('\n')[0], '### Routing');
    assert.equal(readSections(released)[2]?.text, '- the first');
    assert.equal(readSections(released)[1]?.text.match(/^- /gm)?.length, 3);
    assert.throws(() => releaseChangelog(released, '0.3.0', '2026-12-02'), /nothing below/);
    assert.throws(() => releaseChangelog('# Changelog', '0.3.0', '2026-12-02'), /no section/);
  });
});

test('compares versions as semantic versioning does', () => {
  for (const [one, other] of [
    ['0.2.0', '0.1.9'],
    ['1.0.0', '0.99.99'],
    ['0.10.0', '0.9.0'],
    ['1.0.0', '1.0.0-rc.1'],
    ['1.0.0-rc.10', '1.0.0-rc.9'],
  ] as const) {
    assert.ok(isNewer(one, other), `${one} after ${other}`);
    assert.ok(!isNewer(other, one), `${other} not after ${one}`);
  }
  assert.ok(!isNewer('0.1.0', '0.1.0'));
  assert.deepEqual(['1.2', 'v1.2.3', '1.2.3', '1.2.3-rc.1'].map(isVersion), [false, false, true, true]);
});
