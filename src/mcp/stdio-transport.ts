import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { ReadBuffer, serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import type { StdioServerSettings } from './settings.ts';

/** One message of a server, as bytes. */
const MESSAGE_BYTES_MAX = 10_485_760;
/** How long a process may go on after its input has ended, and after it was asked to end. */
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
      });
      this.#child = child;
      this.#exited = new Promise((exited) => {
        child.once('exit', (code, signal) => {
          this.ending = signal === null ? `exit code ${code ?? 'unknown'}` : signal;
          // Whatever it has started must not go on without it, and holds its pipes open.
          signalGroup(child, 'SIGKILL');
          exited();
        });
        child.on('error', (error) => {
          reject(error);
          exited();
        });
      });
      child.once('spawn', resolve);
      child.once('close', () => this.onclose?.());
      child.stdin.on('error', (error) => this.onerror?.(error));
      child.stdout.on('error', (error) => this.onerror?.(error));
      child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
      tellLines(child.stderr, onLine);
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

function signalGroup({ pid }: Child, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // Nobody is left.
  }
}

function tellLines(stream: Readable, onLine: (line: string) => void): void {
  let text = '';
  const tell = (line: string): void => {
    if (line.trim() !== '') onLine(line.slice(0, LINE_CHARS_MAX));
  };
  stream.setEncoding('utf8');
  stream.on('error', () => undefined);
  stream.on('data', (chunk: string) => {
    const lines = (text + chunk).split(/\r?\n/);
    text = (lines.pop() ?? '').slice(0, LINE_CHARS_MAX);
    for (const line of lines) tell(line);
  });
  stream.on('end', () => tell(text));
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
