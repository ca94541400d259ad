// `npm run terminal`: runs a gateway in an empty folder, does what the README shows, and writes the recording to
// docs/images/terminal.svg. Every line is what the programs printed; keys are cut, and the times between lines are real,
// but for pauses to read.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { renderTerminal, type TerminalLine } from './terminal-picture/terminal-picture.ts';

const ROOT = path.join(import.meta.dirname, '..');
const TARGET = path.join(ROOT, 'docs/images/terminal.svg');
/** A reader's time before the next command, and to type one. */
const READING_S = 1.6;
const TYPING_S = 0.6;
/** `mgw-mgmt-` and a few characters say enough. */
const KEY = /\b(mgw-(?:mgmt-)?[A-Za-z0-9]{4})[A-Za-z0-9]+/g;

const folder = mkdtempSync(path.join(tmpdir(), 'terminal-'));
const lines: TerminalLine[] = [];
let clock = 0;

const started = performance.now();
const gateway = spawn(process.execPath, [path.join(ROOT, 'src/main.ts'), '--port', '0', '--data-dir', folder], {
  cwd: folder,
  env: { PATH: process.env['PATH'], GATEWAY_LOG_LEVEL: 'silent' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const { url, key, printed } = await firstStart();
  add('command', 'npm start');
  clock += (performance.now() - started) / 1_000;
  for (const line of printed) add('result', line);
  const env = { PATH: process.env['PATH'], KEY: key, GATEWAY_API_KEY: key, URL: url };

  comment('# one call: any model, in the format of OpenAI or Anthropic');
  run(
    `curl -s $URL/v1/chat/completions -H "Authorization: Bearer $KEY" \\`,
    [`  -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello, gateway!"}]}'`],
    env,
    ['model', 'choices.0.message.content', 'usage.cost'],
  );
  comment('# a provider fails: the next model serves');
  run(
    `curl -s $URL/v1/chat/completions -H "Authorization: Bearer $KEY" -H 'X-Service-Metadata: enabled' \\`,
    [`  -d '{"models": ["sandbox/error-503", "sandbox/echo"], "messages": [{"role": "user", "content": "Hi"}]}'`],
    env,
    ['choices.0.message.content', 'service_metadata.attempts'],
  );
  comment('# a key for a team, which is never overspent');
  const made = spawnSync(
    process.execPath,
    [
      path.join(ROOT, 'src/main.ts'),
      'keys',
      'create',
      '--name',
      'search-team',
      '--limit',
      '50',
      '--limit-reset',
      'monthly',
      '--data-dir',
      folder,
    ],
    { cwd: folder, env: { PATH: process.env['PATH'] }, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(made.stderr);
  add('command', 'model-gateway keys create --name search-team --limit 50 --limit-reset monthly');
  for (const line of made.stdout.trim().split('\n')) add('result', line);
} finally {
  gateway.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
writeFileSync(
  TARGET,
  renderTerminal(lines, 'A recorded terminal: start the gateway, call a model, survive a failing provider, make a key'),
);
process.stdout.write(`${path.relative(ROOT, TARGET)}: ${lines.length} lines\n`);

interface FirstStart {
  readonly url: string;
  readonly key: string;
  readonly printed: readonly string[];
}

async function firstStart(): Promise<FirstStart> {
  let text = '';
  for await (const chunk of gateway.stdout.setEncoding('utf8')) {
    text += String(chunk);
    if (text.includes('Try it:')) break;
  }
  const [, url] = /listening on (\S+)/.exec(text) ?? [];
  const [, key] = /API key: +(\S+)/.exec(text) ?? [];
  if (url === undefined || key === undefined) throw new Error(`the gateway printed:\n${text}`);
  const printed = text
    .split('\n')
    .slice(0, 5)
    .map((line) => line.replace(url, 'http://127.0.0.1:8787'));
  return { url, key, printed };
}

/** The values of the response at some paths, as the shell would print them with a JSON tool. */
function run(command: string, more: readonly string[], env: NodeJS.ProcessEnv, shown: readonly string[]): void {
  const begun = performance.now();
  const { stdout, status } = spawnSync(
    'sh',
    ['-c', [command, ...more].join('\n').replace('-d', "-H 'Content-Type: application/json' -d")],
    {
      env,
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`${command} failed`);
  const response: unknown = JSON.parse(stdout);
  add('command', command);
  for (const line of more) add('command', line, true);
  clock += (performance.now() - begun) / 1_000;
  for (const where of shown) {
    const value = valueAt(response, where);
    if (!Array.isArray(value)) add('result', `${where.split('.').at(-1)}: ${JSON.stringify(value)}`);
    else for (const one of value) add('result', `${where.split('.').at(-1)}: ${JSON.stringify(one)}`);
  }
}

function valueAt(value: unknown, where: string): unknown {
  let found = value;
  for (const step of where.split('.')) {
    if (typeof found !== 'object' || found === null) throw new Error(`the response has no ${where}`);
    found = Object.entries(found).find(([name]) => name === step)?.[1];
  }
  return found;
}

function comment(text: string): void {
  clock += READING_S;
  add('comment', text);
}

function add(kind: TerminalLine['kind'], text: string, isContinued = false): void {
  if (kind === 'command' && !isContinued) clock += TYPING_S;
  lines.push({ kind: isContinued ? 'result' : kind, text: text.replaceAll(KEY, '$1…'), at: clock });
}
