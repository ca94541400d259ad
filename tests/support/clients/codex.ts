import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { JsonObject } from '../../../src/lib/json.ts';
import { API_KEY } from '../gateway.ts';

/** A turn that hangs is ended before its test is: the agent itself waits for minutes. */
const TURN_MS_MAX = 200_000;

/** What an agent did in one turn. */
export interface CodexTurn {
  /** The lines of `--json`. */
  readonly events: readonly JsonObject[];
  /** Completed items of a kind: `agent_message`, `command_execution`, `file_change`, `mcp_tool_call`, `error`... */
  items(type: string): readonly JsonObject[];
  readonly exitCode: number | null;
  /** For the message of a failed test. */
  readonly log: string;
}

/** The Codex CLI with a configuration, a working folder and sessions of its own. */
export interface Codex {
  /** Where its commands run and its patches apply. */
  readonly folder: string;
  /**
   * @param args options before the prompt, and `resume --last` to go on with the session; without `--sandbox` its commands
   * run as they are
   */
  run(prompt: string, ...args: readonly string[]): Promise<CodexTurn>;
}

export interface CodexOptions {
  /** Of the npm package. */
  readonly executable: string;
  readonly baseUrl: string;
  readonly model: string;
  /** TOML before the first table. */
  readonly settings?: string;
  /** TOML tables. */
  readonly tables?: string;
}

/** The settings that docs/clients.md documents, without what would look for the network. */
export async function startCodex(
  t: { after(close: () => Promise<void>): unknown },
  { executable, baseUrl, model, settings = '', tables = '' }: CodexOptions,
): Promise<Codex> {
  const home = await mkdtemp(path.join(tmpdir(), 'codex-home-'));
  const folder = await mkdtemp(path.join(tmpdir(), 'codex-work-'));
  t.after(async () => {
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  });
  const configuration = `
check_for_update_on_startup = false
${settings}
${await readDocumentedSettings(model, baseUrl)}
[features]
plugins = false
apps = false
remote_plugin = false
[analytics]
enabled = false
${tables}`;
  await writeFile(path.join(home, 'config.toml'), configuration);
  const flags = ['--json', '--skip-git-repo-check'];
  const env = { PATH: process.env['PATH'], HOME: home, CODEX_HOME: home, GATEWAY_API_KEY: API_KEY, RUST_LOG: 'error' };
  return {
    folder,
    run(prompt, ...args) {
      const access = args.includes('--sandbox') ? [] : ['--dangerously-bypass-approvals-and-sandbox'];
      const all = [executable, 'exec', ...flags, ...access, ...args, prompt];
      return collectTurn(spawn(process.execPath, all, { cwd: folder, env }));
    },
  };
}

/** Those of docs/clients.md, with another model and address. */
async function readDocumentedSettings(model: string, baseUrl: string): Promise<string> {
  const page = await readFile(path.join(import.meta.dirname, '../../../docs/clients.md'), 'utf8');
  const [, documented = ''] = /```toml\n([^]*?)```/.exec(page) ?? [];
  return documented
    .replace(/^model = .*$/m, `model = ${JSON.stringify(model)}`)
    .replace(/^base_url = .*$/m, `base_url = ${JSON.stringify(baseUrl)}`);
}

function collectTurn(child: ReturnType<typeof spawn>): Promise<CodexTurn> {
  const output: string[] = [];
  const log: string[] = [];
  child.stdin?.end();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => output.push(text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => log.push(text));
  const timer = setTimeout(() => child.kill('SIGTERM'), TURN_MS_MAX);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => {
      clearTimeout(timer);
      const lines = output.join('').split('\n');
      const events = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JsonObject);
      const items = (type: string): readonly JsonObject[] =>
        events
          .flatMap((event) => (event['type'] === 'item.completed' ? [event['item'] as JsonObject] : []))
          .filter((item) => item['type'] === type);
      resolve({ events, items, exitCode, log: `${output.join('')}\n${log.join('')}` });
    });
  });
}
