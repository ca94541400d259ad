import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, suite, test } from 'node:test';
import { captureCli } from '../support/cli/capture-cli.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'import-'));
after(() => {
  rmSync(folder, { recursive: true });
});

function fileOf(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

const REFUSED: readonly (readonly [args: readonly string[], code: number, stderr: RegExp])[] = [
  [['import'], 2, /^import: say of what: litellm\n$/],
  [['import', 'litelm', 'x'], 2, /^import litelm: unknown; did you mean "litellm"\?\n$/],
  [['import', 'litellm'], 2, /^import litellm: name the file\n$/],
  [['import', 'litellm', 'a', 'b'], 2, /^import litellm: takes one file\n$/],
  [['import', 'litellm', path.join(folder, 'none.yaml')], 1, /none\.yaml: cannot be read\n$/],
  [['import', 'litellm', fileOf('bad.yaml', 'a: 1\n b: [\n')], 1, /bad\.yaml:\d: this is not YAML: /],
  [['import', 'litellm', fileOf('other.yaml', 'models: {}\n')], 1, /other\.yaml: has no model_list, /],
];

suite('model-gateway import litellm', () => {
  for (const [args, code, stderr] of REFUSED)
    test(`refuses in one sentence: ${args.slice(0, 2).join(' ')} ${path.basename(args[2] ?? '')}`, async () => {
      const result = await captureCli(args);
      assert.deepEqual([result.code, result.stdout], [code, '']);
      assert.match(result.stderr, stderr);
    });

  const theirs = fileOf(
    'config.yaml',
    `model_list:
  - { model_name: gpt-4o, litellm_params: { model: openai/gpt-4o, api_key: os.environ/TEAM_KEY, rpm: 5 } }
  - { model_name: claude, litellm_params: { model: anthropic/claude-sonnet-4-5 } }
general_settings: { master_key: sk-1234 }
`,
  );

  test('prints a file that starts, with what it lacks in comments, and says what it needs', async () => {
    const { code, stdout, stderr } = await captureCli(['import', 'litellm', theirs]);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^# From config\.yaml, by "model-gateway import litellm"\.\n# Not carried over:\n#   model_list\[0\]/,
    );
    assert.match(stdout, /\nproviders:\n {2}openai:\n {4}api_key: \$\{TEAM_KEY\}\n/);
    assert.match(stderr, /: 2 models and 2 providers\.\nNot carried over:\n/);
    assert.match(
      stderr,
      /The file is complete\. It needs TEAM_KEY, ANTHROPIC_API_KEY in the environment\. Check it with /,
    );
    assert.doesNotMatch(stdout + stderr, /sk-1234/);
  });

  test('says what is left to do where the file would not start', async () => {
    const file = fileOf(
      'broken.yaml',
      'model_list: [{ model_name: m, litellm_params: { model: ollama/x, api_base: "not a url" } }]',
    );
    const { code, stderr } = await captureCli(['import', 'litellm', file]);
    assert.equal(code, 0);
    assert.match(
      stderr,
      /The file needs your hand before it starts:\n {2}.*providers\.ollama\.base_url: must be an http/,
    );
  });

  test('writes a file for its owner alone, and never over another', async () => {
    const output = path.join(folder, 'gateway.yaml');
    assert.equal((await captureCli(['import', 'litellm', theirs, '--output', output])).code, 0);
    assert.equal(statSync(output).mode & 0o777, 0o600);
    writeFileSync(output, 'mine');
    const { code, stderr } = await captureCli(['import', 'litellm', theirs, '--output', output]);
    assert.deepEqual([code, stderr], [1, `${output}: exists already; name another file\n`]);
    assert.equal(readFileSync(output, 'utf8'), 'mine');
  });
});
