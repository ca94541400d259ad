import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Model } from '../tool-turns.ts';

const SCRIPT = fileURLToPath(new URL('stdio-server.ts', import.meta.url));
/** A server gets no more of the environment than its entry has: without it each would compile all that it loads. */
const COMPILE_CACHE = fileURLToPath(new URL('../../../node_modules/.cache/tests', import.meta.url));

type Test = { after(close: () => Promise<void>): void };

/** What servers that run as processes note of themselves, in a file. */
export interface Notes {
  readonly path: string;
  read(): Promise<readonly string[]>;
  /** The notes, once they match. */
  until(holds: (notes: readonly string[]) => boolean): Promise<readonly string[]>;
  /** Process ids of all that were started. */
  pids(): Promise<readonly number[]>;
}

export async function openNotes(t: Test): Promise<Notes> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'notes');
  const read = async (): Promise<readonly string[]> =>
    (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return {
    path,
    read,
    until: (holds) => until(read, holds),
    pids: async () =>
      (await read()).filter((line) => line.startsWith('start ')).map((line) => Number(line.slice('start '.length))),
  };
}

/** Looks again and again; fails with what was there last. */
export async function until<Value>(
  look: () => Promise<Value> | Value,
  holds: (value: Value) => boolean,
): Promise<Value> {
  let seen = await look();
  for (let tries = 0; !holds(seen); tries++) {
    if (tries > 500) throw new Error(`it never came to that: ${JSON.stringify(seen)}`);
    await wait(20);
    seen = await look();
  }
  return seen;
}

/** A line of `mcp_servers`: a server as a process. @param more further members, as YAML */
export function stdioServer(name: string, mode: string, notes: Notes, more = ''): string {
  const env = `{ MCP_NOTES: "${notes.path}", MCP_TOKEN: a-secret-of-the-server, NODE_COMPILE_CACHE: "${COMPILE_CACHE}" }`;
  return `  ${name}: { command: "${process.execPath}", args: ["${SCRIPT}", ${mode}], env: ${env}${more} }\n`;
}

export function stdioCommand(mode: string): readonly string[] {
  return [process.execPath, SCRIPT, mode];
}

export function httpServer(name: string, url: string, more = ''): string {
  return `  ${name}: { url: "${url}", headers: { authorization: "Bearer a-secret-of-the-server" }${more} }\n`;
}

/** A call as the user requests it from the model. */
export function please(name: string, input: object = {}): { readonly role: string; readonly content: string } {
  return { role: 'user', content: `CALL ${name} ${JSON.stringify(input)}` };
}

/** Calls what the user's last message says, and then says what it read. */
export const obedient: Model = ({ body }) => {
  const messages = body['messages'] as readonly { readonly role: string; readonly content: unknown }[];
  const requestedCount = messages.findLastIndex(({ content }) => wordsIn(content).includes('CALL '));
  const read = messages
    .slice(requestedCount + 1)
    .flatMap(({ role, content }) => (role === 'assistant' ? [] : [wordsIn(content)]));
  if (read.length > 0) return { text: `It said: ${read.join('')}` };
  const [, name = '', input = ''] = /CALL (\S+) (\{.*\})/s.exec(wordsIn(messages[requestedCount]?.content)) ?? [];
  return { calls: [{ name, input }] };
};

/** The texts of a message, in whichever format. */
function wordsIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { readonly text?: string; readonly content?: unknown }) => part.text ?? wordsIn(part.content))
    .join('');
}

/** Whether a process runs. A zombie, which has ended but was not waited for, does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
