import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { suite, test } from 'node:test';
import { runCli } from '../../src/cli/main.ts';

/** Unescaped parts of passwords; with each of them another host, or another database, would be meant. */
const PASSWORDS = [
  'hunter2@canary',
  'hunter2/canary',
  '12/canary',
  'a@hunter2/canary',
  '12?canary',
  'a@hunter2#canary',
];
const COMMANDS = [['serve', '--port', '0'], ['doctor'], ['config', 'check'], ['keys', 'list'], ['credits', 'verify']];

async function run(args: readonly string[], env: Readonly<Record<string, string>>) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const chunks: Buffer[] = [];
  for (const stream of [stdout, stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const code = await runCli(args, { env, stdin, stdout, stderr });
  return { code, text: Buffer.concat(chunks).toString('utf8') };
}

suite('a password with unescaped characters in an address', () => {
  for (const [name, addressOf] of [
    ['DATABASE_URL', (password: string) => `postgres://me:${password}@127.0.0.1:1/gateway`],
    ['REDIS_URL', (password: string) => `redis://me:${password}@127.0.0.1:1/0`],
  ] as const)
    for (const command of COMMANDS)
      test(`is refused and never printed: ${name}, ${command.join(' ')}`, async () => {
        for (const password of PASSWORDS) {
          const env = { GATEWAY_CONFIG: '/dev/null', [name]: addressOf(password) };
          const { code, text } = await run(command, env);
          assert.notEqual(code, 0, `${password}: ${text}`);
          assert.doesNotMatch(text, /canary|hunter2/, password);
          assert.match(text, new RegExp(`${name}: must be an address such as .*@ is written %40, / is %2F`), text);
        }
      });
});
