import { Client, SdkHttpError, type Tool, type Transport } from '@modelcontextprotocol/client';
import { McpError, type McpResult } from '../canonical/tools/mcp.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { withTimeout } from '../lib/async/with-timeout.ts';
import { explainForOperator, readFailure } from './explain-failure.ts';
import { StdioTransport } from './stdio-transport.ts';

/** From the start of a process, or the first byte to a host, until it accepts calls. */
const CONNECT_MS_MAX = 30_000;
/** How long a process may take to say that it knows the newer protocol; one that is silent does not. */
const PROBE_MS_MAX = 5_000;
/** How long a server may take for the list of its tools, and on how many pages it may be. */
const LIST_MS_MAX = 30_000;
const LIST_PAGES_MAX = 20;
/** Calls of one server under way. */
const CALLS_AT_ONCE_MAX = 64;
/** Wait before a failed server is tried again. The first retry is immediate. */
const BACKOFF_MS = 1_000;
const BACKOFF_MS_MAX = 60_000;
/** A connection that held so long did not fail at once. */
const STABLE_MS = 60_000;
/** How long the goodbye to a session may take. */
const FAREWELL_MS = 2_000;

const CLIENT = { name: 'model-gateway', version: '1' };
/** With these a server says that it does not know the session any more. */
const SESSION_LOST: ReadonlySet<number> = new Set([400, 404]);

/** A transport of the library's, or ours. */
export type McpTransport = Transport & { terminateSession?(): Promise<void> };

export interface ConnectionOptions {
  readonly name: string;
  readonly callMsMax: number;
  readonly open: () => McpTransport | Promise<McpTransport>;
  readonly monotonicMs: () => number;
  /** Its tools may be others from now on. */
  readonly onChanged: () => void;
  /** Takes out what the server was given to keep to itself. */
  readonly redact: (text: string) => string;
  /** For the operator's eyes. */
  readonly onTrouble: (message: string) => void;
}

/** What a server says of itself, and has. */
export interface McpInventory {
  readonly tools: readonly Tool[];
  readonly title: string | undefined;
}

/**
 * One client of one server, connected when it is needed and kept. A class because it lives as long as the gateway, and
 * stands for whichever connection there is now.
 */
export class McpConnection {
  readonly #options: ConnectionOptions;
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  #connectedMs = 0;
  #failures = 0;
  #retryAtMs = 0;
  #lastError: McpError | undefined;
  /** While it shakes hands. */
  #opening: McpTransport | undefined;
  /** Those that are being ended. */
  readonly #leaving = new Set<Promise<void>>();
  #running = 0;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** @throws McpError */
  inventory(): Promise<McpInventory> {
    return this.#ask(async (client) => {
      const about = client.getServerVersion();
      const title = about === undefined ? undefined : `${about.name} ${about.version}`;
      // The library writes to the console where there are none.
      if (client.getServerCapabilities()?.tools === undefined) return { tools: [], title };
      const { tools } = await client.listTools(undefined, { cacheMode: 'refresh', timeout: LIST_MS_MAX });
      return { tools, title };
    });
  }

  /**
   * @param meta sent beside the call
   * @throws McpError
   */
  async call(
    tool: string,
    input: JsonObject,
    signal: AbortSignal,
    meta?: Readonly<Record<string, string>>,
  ): Promise<McpResult> {
    if (this.#running >= CALLS_AT_ONCE_MAX)
      throw new McpError('too_many_requests', `The MCP server "${this.#options.name}" is busy with other calls.`);
    this.#running++;
    // The caller aborts the call in time by its signal.
    const request = { name: tool, arguments: input, ...(meta !== undefined && { _meta: { ...meta } }) };
    const options = { signal, timeout: this.#options.callMsMax * 2 };
    try {
      return await this.#ask(async (client) => {
        signal.throwIfAborted();
        return formatAnswer(await client.callTool(request, options));
      }, signal);
    } finally {
      this.#running--;
    }
  }

  /** @param signal absent: it is for the list of tools. @throws McpError */
  async #ask<Answer>(
    question: (client: Client) => Promise<Answer>,
    signal?: AbortSignal,
    isSecond = false,
  ): Promise<Answer> {
    const isNew = this.#client === undefined;
    const client = await this.#connected();
    // Its tools may differ from those of the connection before; they have not been listed yet.
    if (isNew && signal !== undefined) this.#options.onChanged();
    try {
      return await question(client);
    } catch (error) {
      if (signal?.aborted === true) throw new McpError('unavailable', 'The call was interrupted.', { cause: error });
      if (!isSecond && hasLostSession(client, error)) {
        // It was not run: a server that does not know the session did not look any further.
        this.#forget(client);
        return this.#ask(question, signal, true);
      }
      throw this.#failed(client, error);
    }
  }

  /** @throws McpError */
  async #connected(): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    if (this.#isClosed) throw new McpError('unavailable', 'The gateway is stopping.');
    if (this.#connecting !== undefined) return this.#connecting;
    const { monotonicMs } = this.#options;
    if (this.#lastError !== undefined && monotonicMs() < this.#retryAtMs) throw this.#lastError;
    this.#connecting = this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connect(): Promise<Client> {
    const { name, redact, onTrouble, monotonicMs } = this.#options;
    try {
      const client = await this.#openClient();
      if (this.#isClosed) {
        await farewell(client);
        throw new McpError('unavailable', 'The gateway is stopping.');
      }
      this.#client = client;
      this.#connectedMs = monotonicMs();
      // The library has members for these, and no listeners.
      return Object.assign(client, {
        onclose: () => this.#ended(client),
        onerror: (error: Error) => onTrouble(explainForOperator(error)),
      });
    } catch (error) {
      this.#backOff();
      onTrouble(explainForOperator(error));
      this.#lastError = readFailure(error, name, redact).error;
      throw this.#lastError;
    }
  }

  /** Some servers exit on an unknown message; these get the older protocol at once. */
  async #openClient(): Promise<Client> {
    const transport = await this.#options.open();
    try {
      return await this.#shakeHands(transport, false);
    } catch (error) {
      // It did not end by itself where the gateway ended it.
      if (this.#isClosed || !(transport instanceof StdioTransport) || transport.ending === undefined) throw error;
      const second = await this.#options.open();
      try {
        return await this.#shakeHands(second, true);
      } catch (again) {
        if (!(second instanceof StdioTransport) || second.ending === undefined) throw again;
        throw new Error(`The process ended with ${second.ending}.`, { cause: again });
      }
    }
  }

  async #shakeHands(transport: McpTransport, isOld: boolean): Promise<Client> {
    // A host that is silent is slow or down; a process that is silent may just not know the question.
    const timeoutMs = transport instanceof StdioTransport ? PROBE_MS_MAX : CONNECT_MS_MAX;
    const client = new Client(CLIENT, {
      capabilities: {},
      versionNegotiation: { mode: 'auto', probe: { timeoutMs } },
      inputRequired: { autoFulfill: false },
      listMaxPages: LIST_PAGES_MAX,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => this.#options.onChanged() } },
    });
    this.#opening = transport;
    const options = { timeout: CONNECT_MS_MAX, ...(isOld && { prior: { kind: 'legacy' as const } }) };
    try {
      await withTimeout(client.connect(transport, options), CONNECT_MS_MAX);
      return client;
    } catch (error) {
      await transport.close().catch(() => undefined);
      throw error;
    } finally {
      this.#opening = undefined;
    }
  }

  /** What a call or a list failed with, and what becomes of the connection. */
  #failed(client: Client, error: unknown): McpError {
    const { name, redact, onTrouble } = this.#options;
    const { error: failure, isLost } = readFailure(error, name, redact);
    if (isLost && this.#lose(client, failure)) onTrouble(explainForOperator(error));
    return failure;
  }

  #ended(client: Client): void {
    const { name, onTrouble } = this.#options;
    const error = new McpError('unavailable', `The MCP server "${name}" ended, and is not up again yet.`);
    if (this.#lose(client, error)) onTrouble('The connection ended.');
  }

  /** It broke. Whether it was the one in use. */
  #lose(client: Client, error: McpError): boolean {
    if (!this.#forget(client)) return false;
    if (this.#options.monotonicMs() - this.#connectedMs > STABLE_MS) this.#failures = 0;
    this.#lastError = error;
    this.#backOff();
    return true;
  }

  /** Drops the client. @returns whether it was the one in use */
  #forget(client: Client): boolean {
    if (this.#client !== client) return false;
    this.#client = undefined;
    const leaving: Promise<void> = farewell(client).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    return true;
  }

  #backOff(): void {
    this.#failures++;
    const delayMs = this.#failures === 1 ? 0 : Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** (this.#failures - 2));
    this.#retryAtMs = this.#options.monotonicMs() + delayMs;
  }

  /** Ends the process, or the session. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#client !== undefined) this.#forget(this.#client);
    await Promise.all([
      ...this.#leaving,
      // What shakes hands still is cut short, and says its own farewell.
      this.#opening?.close().catch(() => undefined),
      this.#connecting?.catch(() => undefined),
    ]);
  }
}

async function farewell(client: Client): Promise<void> {
  const transport: McpTransport | undefined = client.transport;
  // A server that is gone cannot be notified; its own limits end the session.
  await withTimeout(transport?.terminateSession?.() ?? Promise.resolve(), FAREWELL_MS).catch(() => undefined);
  await client.close().catch(() => undefined);
}

function hasLostSession({ transport }: Client, error: unknown): boolean {
  return transport?.sessionId !== undefined && error instanceof SdkHttpError && SESSION_LOST.has(error.status);
}

function formatAnswer({ content, structuredContent, isError }: Awaited<ReturnType<Client['callTool']>>): McpResult {
  const blocks: readonly unknown[] = content;
  return {
    content: blocks.filter(isJsonObject),
    ...(isJson(structuredContent) && { structured: structuredContent }),
    failed: isError === true,
  };
}

/** It came as JSON: what is there is a value of it. */
function isJson(value: unknown): value is Json {
  return value !== undefined;
}
