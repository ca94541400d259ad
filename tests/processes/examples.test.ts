import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { ROOT, runCli, startGateway } from '../support/cli/spawn-cli.ts';

const FOLDER = join(ROOT, 'examples');
const KEYS = {
  GATEWAY_API_KEY: 'example-key-0123456789abcdef',
  GATEWAY_MANAGEMENT_KEY: 'example-management-key-0123456789abcdef',
};

/** What each of them prints in front of the sandbox's models. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  agents: /^the agent looks up the weather of .+\ntool weather said: Rain all day\.\n2 steps, \d+ tokens\n$/,
  mcp: /^called mcp_notes_find_note: .*buy milk.*\ntool mcp_notes_find_note said: .*buy milk.*\n$/,
  observability:
    /^a call: 200\ngen_ai\.request\.model: sandbox\/echo\ngen_ai\.usage\.input_tokens: \d+\ngen_ai\.usage\.output_tokens: \d+\n$/,
  routers:
    /^auto-router takes it for code:general_impl and chooses acme\/small\nserved by acme\/small\nthe cheapest endpoint of acme\/large\n$/,
  chat: /^Good morning\nCount to three: one, two, three\n\d+ tokens\n$/,
  messages: /^\(thought\) .+\nWhy is the sky blue\?\n$/,
  responses: /^My name is Ann\.\nSay it again\.\n3 items of input\n$/,
  tools: /^calls weather\(\{"city":".+"\}\)\ntool weather said: Rain all day\.\n$/,
  rag: /^Source: The office opens at nine\.\nQuestion: When does the office open\?\n$/,
  failover: /^sandbox\/echo: Are you there\?\nrefused with 429\nAre you\s*\nbroke off: .+\n$/,
  budgets: /^team-a may spend 25 USD a month\nits first call: 200\n25 USD are left\nafter its end: 401\n$/,
};

suite('the examples', () => {
  let url = '';
  const ends: (() => unknown)[] = [];
  const hooks = { after: (end: () => unknown): void => void ends.push(end) };
  before(async () => {
    ({ url } = await startGateway(hooks, { env: KEYS, cwd: ROOT, args: ['--config', join(FOLDER, 'gateway.yaml')] }));
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });

  test('are all listed on their page, and tried here', () => {
    const folders = readdirSync(FOLDER, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    assert.deepEqual(folders.toSorted(), Object.keys(PRINTED).toSorted());
    const page = readFileSync(join(FOLDER, 'README.md'), 'utf8');
    for (const name of folders) assert.ok(page.includes(`(${name}/index.ts)`), name);
  });

  for (const [name, printed] of Object.entries(PRINTED))
    test(`${name} runs without a key of a provider`, async (t) => {
      const command = [process.execPath, join(FOLDER, name, 'index.ts')];
      const env = { ...KEYS, GATEWAY_URL: url };
      const { code, stdout, stderr } = await runCli(t, [], { command, env });
      assert.equal(code, 0, stderr);
      assert.match(stdout, printed);
    });
});
