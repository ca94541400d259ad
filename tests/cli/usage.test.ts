import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { suite, test } from 'node:test';
import { captureCli } from '../support/cli/capture-cli.ts';

/** A command line, its exit code, and what it prints to standard error. */
const REFUSED: readonly (readonly [args: readonly string[], code: number, stderr: string])[] = [
  [['srve'], 2, 'srve: unknown command; did you mean "serve"?\n'],
  [
    ['launch'],
    2,
    'launch: unknown command; known are serve, keys, credits, backup, restore, secret, vault, containers, interns, mcp-server, scim, journal, generations, report, destinations, notify, audit, config, import, console, doctor, catalog, chat, explain, eval, classifiers, datasets, decisions, sandbox\n',
  ],
  [['--prot', '1'], 2, '--prot: unknown flag; did you mean "--port"?\n'],
  [['serve', '--port'], 2, '--port needs a value\n'],
  [['serve', '--port', 'x'], 2, '--port: must be a whole number from 0 to 65535, not "x"\n'],
  [['--config', 'missing.yaml'], 1, 'missing.yaml: there is no such file\n'],
  [['config'], 2, 'config: say what to do; there is "config check"\n'],
  [['config', 'print'], 2, 'config print: unknown command; there is "config check"\n'],
  [['console'], 2, 'console: say what to do; there is "console link"\n'],
  [['console', 'open'], 2, 'console open: unknown command; there is "console link"\n'],
  [['console', 'link', '--url', 'here'], 2, '--url: must be an http:// or https:// URL, not "here"\n'],
  [['keys'], 2, 'keys: say what to do: create, list, disable, enable, delete\n'],
  [['keys', 'crate'], 2, 'keys crate: unknown command; did you mean "create"?\n'],
  [['keys', 'disable'], 2, 'keys disable: name a key by its hash or label\n'],
  [['keys', 'list', 'x'], 2, 'keys list: x: unexpected argument\n'],
  [
    ['keys', 'list', '--limit', '1'],
    2,
    'keys list: --name, --limit, --limit-reset and --management belong to "keys create"\n',
  ],
  [['keys', 'create', '--limit=-1'], 2, '--limit: must be an amount in USD from 0 to 9000000, not "-1"\n'],
  [
    ['keys', 'create', '--limit', '1', '--limit-reset', 'yearly'],
    2,
    '--limit-reset: must be daily, weekly, monthly, not "yearly"\n',
  ],
  [
    ['keys', 'create', '--limit-reset', 'daily'],
    2,
    'keys create: --limit-reset says when the limit starts again, so it needs --limit\n',
  ],
  [['report'], 2, 'report: say of what: routers\n'],
  [['report', 'routers', '--by', 'key'], 2, '--by: must be router, model or task, not "key"\n'],
  [['catalog'], 2, 'catalog: say what to do: list, show, check, refresh\n'],
  [['catalog', 'shew'], 2, 'catalog shew: unknown command; did you mean "show"?\n'],
  [['catalog', 'show'], 2, 'catalog show: takes one model\n'],
  [['vault'], 2, 'vault: say what to do: set, list, delete, releases, rotate-check, doctor\n'],
  [['scim', 'token', 'mint'], 2, 'scim token mint: unknown command; did you mean "token list"?\n'],
  [['secret', 'forget'], 2, 'secret forget: unknown command; known are rotate\n'],
  [['mcp-server'], 2, 'mcp-server: say what to do: status, connections, revoke\n'],
  [['classifiers', 'test', 'c'], 2, 'classifiers test: name generations, or give a text with --text\n'],
  [['chat', 'hi'], 2, 'chat: give a key with --key or in GATEWAY_API_KEY\n'],
  [['chat', '--key', 'k', '--url', 'nowhere', 'hi'], 2, '--url: must be an http:// or https:// URL, not "nowhere"\n'],
  [['chat', '--key', 'k', '--format', 'morse', 'hi'], 2, '--format: must be one of chat, responses, not "morse"\n'],
  [['chat', '--modle', 'm'], 2, '--modle: unknown flag; did you mean "--model"?\n'],
];

suite('a wrong command line', () => {
  for (const [args, code, stderr] of REFUSED) {
    test(`is refused in one sentence: "${args.join(' ')}"`, async () => {
      const isThere = existsSync('data');
      assert.deepEqual(await captureCli(args), { code, stdout: '', stderr });
      assert.equal(existsSync('data'), isThere, 'makes no database');
    });
  }
});

suite('help', () => {
  for (const command of ['serve', 'keys', 'config', 'catalog', 'chat']) {
    test(`is printed without any action: ${command}`, async () => {
      for (const args of [
        [command, '--help'],
        ['help', command],
        [command, 'x', '-h'],
      ]) {
        const { code, stdout } = await captureCli(args);
        assert.equal(code, 0);
        assert.match(stdout, new RegExp(`^Usage: model-gateway \\[?${command}`));
      }
    });
  }
});
