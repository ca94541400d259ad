import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { ReadBuffer, serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import type { StdioServerSettings } from './settings.ts';

/** One message of a server, as bytes. */
const MESSAGE_BYTES_MAX = 10_485_760;
/** Time for a process to exit after its input has ended, and again after SIGTERM. */
const FAREWELL_MS = 1_000;
const TERM_MS = 2_000;
/** A line of what it writes to its standard error. */
const LINE_CHARS_MAX = 1_000;

export interface StdioTransportOptions {
  readonly settings: StdioServerSettings;
  /** PATH and HOME of the gateway: without them hardly a command is found. */
  readonly inherited: Readonly<Record<string, string>>;
  /** A line of its standard error, for the operator. */
  readonly onLine: (line: string) => void;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * A server that runs as a child of the gateway. Not the library's own transport: that leaves behind what a wrapper (`npx`,
 * `sh -c`) has started, hands over more of the environment, and does not say with what a process ended.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** How the process ended, once it did. */
  ending: string | undefined;
  readonly #options: StdioTransportOptions;
  readonly #buffer = new ReadBuffer({ maxBufferSize: MESSAGE_BYTES_MAX });
  #child: Child | undefined;
  #exited: Promise<void> = Promise.resolve();

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  /** With `stderr` what the library knows a child process by: it does not answer what it does not know. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get stderr(): Readable | null {
    return this.#child?.stderr ?? null;
  }

  start(): Promise<void> {
    const { settings, inherited, onLine } = this.#options;
    return new Promise((resolve, reject) => {
      const child = spawn(settings.command, [...settings.args], {
        env: { ...inherited, ...settings.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        // A process group of its own: what a wrapper starts ends with it.
        detached: process.platform !== 'win32',
        windowsHide: true,
        ...(settings.cwd !== undefined && { cwd: settings.cwd }),
        ...(settings.uid !== undefined && { uid: settings.uid }),
        ...(settings.gid !== undefined && { gid: settings.gid }),
      });
      this.#child = child;
      this.#exited = new Promise((exited) => {
        child.once('exit', (code, signal) => {
          this.ending = signal === null ? `exit code ${code ?? 'unknown'}` : signal;
          // Its children must not outlive it; they would also keep its pipes open.
          signalGroup(child, 'SIGKILL');
          exited();
        });
        child.on('error', (error) => {
          reject(explainSpawnError(error, settings));
          exited();
        });
      });
      child.once('spawn', resolve);
      child.once('close', () => this.onclose?.());
      child.stdin.on('error', (error) => this.onerror?.(error));
      child.stdout.on('error', (error) => this.onerror?.(error));
      child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
      notifyLines(child.stderr, onLine);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || this.ending !== undefined || !stdin.writable)
      throw new Error('The process does not read any more.');
    if (stdin.write(serializeMessage(message))) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stdin.off('drain', done).off('close', done);
        resolve();
      };
      stdin.once('drain', done).once('close', done);
    });
  }

  /** Ends the process, and what it has started: politely at first. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.pid === undefined || this.ending !== undefined) return;
    child.stdin.end();
    if (await this.#exitsWithin(FAREWELL_MS)) return;
    signalGroup(child, 'SIGTERM');
    if (await this.#exitsWithin(TERM_MS)) return;
    signalGroup(child, 'SIGKILL');
    await this.#exited;
  }

  async #exitsWithin(limitMs: number): Promise<boolean> {
    const over = new AbortController();
    const tooLong = wait(limitMs, false, { signal: over.signal }).catch(() => false);
    const exited = await Promise.race([this.#exited.then(() => true), tooLong]);
    over.abort();
    return exited;
  }

  #receive(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      this.onerror?.(asError(error));
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // A line that is no message. The next one may be.
        this.onerror?.(asError(error));
      }
    }
  }
}

/** Only root may start a process as another user. */
function explainSpawnError(error: Error, { uid, gid }: StdioServerSettings): Error {
  if ((uid ?? gid) === undefined || !('code' in error) || error.code !== 'EPERM') return error;
  return new Error('The process cannot be started with this uid and gid: that takes a gateway that runs as root.', {
    cause: error,
  });
}

function signalGroup({ pid }: Child, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // No process is left.
  }
}

function notifyLines(stream: Readable, onLine: (line: string) => void): void {
  let text = '';
  const notify = (line: string): void => {
    if (line.trim() !== '') onLine(line.slice(0, LINE_CHARS_MAX));
  };
  stream.setEncoding('utf8');
  stream.on('error', () => undefined);
  stream.on('data', (chunk: string) => {
    const lines = (text + chunk).split(/\r?\n/);
    text = (lines.pop() ?? '').slice(0, LINE_CHARS_MAX);
    for (const line of lines) notify(line);
  });
  stream.on('end', () => notify(text));
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
