import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite, test } from 'node:test';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One that is there already, for each row: the files that know it are what the row says is touched. */
interface Sample {
  /** How the row begins. */
  readonly row: string;
  /** What files that know the sample hold. */
  readonly pattern: RegExp;
  /** Its own folder or file, and the files that use it rather than register it. */
  readonly own: RegExp;
}

const SAMPLES: readonly Sample[] = [
  {
    row: 'a wire format',
    pattern: /'cohere'|\bcohere\b: |wire\/cohere\/format/,
    own: /^src\/(?:wire\/cohere|providers)\//,
  },
  { row: 'a plugin', pattern: /'response-healing'/, own: /^src\/plugins\/response-healing\// },
  { row: 'a server tool', pattern: /'service:datetime'|datetime\/tool/, own: /^src\/tools\/datetime\// },
  { row: 'a management route', pattern: /credits\/get\.ts/, own: /^$/ },
  { row: 'a table or a column', pattern: /0008-files|interface FileUsageTable\b/, own: /^src\/store\/migrations\/0/ },
  {
    row: 'a setting of a resource',
    pattern: /0007-default-plugins|\binclude_byok_in_limit: member/,
    own: /^src\/store\/migrations\/0/,
  },
  { row: 'a CLI command', pattern: /'\.\/report\.ts'|REPORT_HELP/, own: /^$/ },
  {
    row: 'a kind of destination',
    pattern: /otel-metrics\/destination/,
    own: /^src\/telemetry\/destinations\/otel-metrics\//,
  },
  { row: 'a metric', pattern: /gateway_rescues_total/, own: /^$/ },
  {
    row: 'a key of the configuration',
    pattern: /\bprivate_destinations|\bprivateDestinations\b/,
    own: /^src\/(?:app|telemetry|http)\//,
  },
];

const rows = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8')
  .split('\n## ')
  .find((part) => part.startsWith('How to add'))
  ?.split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
assert.ok(rows !== undefined && rows.length > 8, 'there is a table');

function pathsIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`((?:src|tests|docs)\/[^`]+)`/g)].map(([, path]) => path ?? '');
}

test('names only existing paths in the table "How to add"', () => {
  for (const [name, , touched = ''] of rows)
    for (const path of pathsIn(touched)) assert.ok(existsSync(ROOT + path), `${name}: there is no ${path}`);
});

suite('an addition touches the files of the table, and no other source', () => {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) => !/\.test\.ts$|\/test-[^/]*$/.test(path));
  for (const { row, pattern, own } of SAMPLES)
    test(row, () => {
      const found = rows.find(([name = '']) => name.startsWith(row));
      assert.ok(found !== undefined, `the table has a row for ${row}`);
      const touched = pathsIn(found[2] ?? '').filter((path) => path.startsWith('src/') && !path.includes('.test.'));
      const knowing = sources.filter((path) => !own.test(path) && pattern.test(readFileSync(ROOT + path, 'utf8')));
      assert.ok(knowing.length > 0, 'the sample is there');
      assert.deepEqual(knowing.toSorted(), touched.toSorted());
    });
});
