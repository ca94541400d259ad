import type { Agent } from 'undici';
import type { ProxyOf } from '../lib/net/proxy/proxies.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { namesVault, type FillSecrets } from '../canonical/vault-reference.ts';
import { McpError, type McpResult, type McpServer, type McpServers, type McpTool } from '../canonical/tools/mcp.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { createReadThroughCache } from '../lib/cache/read-through-cache.ts';
import { redactValues } from '../lib/text/redact-values.ts';
import { createHider } from '../lib/text/hide-values.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { matchesName } from './name-pattern.ts';
import { inheritedEnvironment } from './child-environment.ts';
import type { FillTexts } from './http-transport.ts';
import type { McpConnection, McpTransport } from './connection.ts';
import type { McpServerSettings } from './settings.ts';

/** The tools of a server without change notifications are listed again after this time. */
const LIST_FRESH_MS = 300_000;
/** So long the tools of a server that is down are offered as they were. */
const LIST_STALE_MS_MAX = 3_600_000;
/** A list, with the connection that it takes. */
const LIST_MS_MAX = 60_000;
/** A request that has a server among its tools waits so long for it; the server is given longer. */
const WAIT_MS_MAX = 10_000;
/** Tools of one server, and their descriptions with their schemas: what is beyond is left out. */
const TOOLS_MAX = 256;
const TOOLS_BYTES_MAX = 1_048_576;
/** Characters of a name, the most that the protocol has for one. */
const NAME_CHARS_MAX = 128;
/** What a server writes and what is wrong with it: so many lines in so long, and the rest is not logged. */
const LINES_MAX = 120;
const LINES_WINDOW_MS = 60_000;

export interface McpDeps {
  readonly servers: readonly McpServerSettings[];
  /** Of the gateway, of which a server gets next to nothing. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly monotonicMs: () => number;
  readonly log: McpLog;
  /** For messages of servers over HTTP while they come. Absent: nothing counts them. */
  readonly memory?: ByteBudget | undefined;
  /** Fills headers and environments that name secrets of the vault. Absent: none do. */
  readonly fill?: FillSecrets | undefined;
  /** Absent: servers are called directly. */
  readonly proxyOf?: ProxyOf | undefined;
}

/** For the operator's eyes. */
export type McpLog = (server: string, event: { readonly line: string } | { readonly trouble: string }) => void;

/** The outcome of a check of a server. */
export interface McpCheck {
  /** Its name and version, as it says. */
  readonly title: string | undefined;
  readonly tools: number;
  /** Of them those that are offered. */
  readonly offered: number;
}

/** A server as operators see it. */
export interface McpInventory {
  readonly settings: McpServerSettings;
  /** Those that are offered. Absent: it does not answer. */
  readonly tools?: readonly McpTool[];
  /** Why it does not answer. */
  readonly trouble?: string;
}

export interface McpGateway extends McpServers {
  /** All servers with their tools. */
  inventory(signal: AbortSignal): Promise<readonly McpInventory[]>;
  /** Calls a tool that is offered, whatever keys may use the server. @throws McpError, GatewayError 404 */
  callTool(name: string, tool: string, input: JsonObject, signal: AbortSignal): Promise<McpResult>;
  /** @throws McpError */
  check(name: string): Promise<McpCheck>;
  /** Ends processes and sessions. */
  close(): Promise<void>;
}

/** Opens no connection, and loads nothing of the library, before the first use. */
export function createMcpServers(deps: McpDeps): McpGateway {
  const transports = createTransports(deps);
  const servers = new Map(
    deps.servers.map((one) => [one.name, { rules: one, server: openServer(one, deps, transports) }]),
  );
  return {
    find(name, { workspaceId, keyHash }) {
      const found = servers.get(name);
      if (found === undefined) return 'unknown';
      const { workspaces, keys } = found.rules;
      const isForAll = workspaces === undefined && keys === undefined;
      const isAllowed = isForAll || workspaces?.includes(workspaceId) === true || keys?.includes(keyHash) === true;
      return isAllowed ? found.server : 'forbidden';
    },
    check(name) {
      const found = servers.get(name);
      if (found === undefined) throw new McpError('unavailable', `There is no MCP server "${name}".`);
      return found.server.check();
    },
    inventory: (signal) =>
      Promise.all([...servers.values()].map(({ rules, server }) => inventoryOf(rules, server, signal))),
    async callTool(name, tool, input, signal) {
      const server = servers.get(name)?.server;
      if (server === undefined) throw new GatewayError('not_found', `There is no MCP server "${name}".`);
      const tools = await server.tools(signal);
      if (!tools.some((offer) => offer.name === tool))
        throw new GatewayError('not_found', `The MCP server "${name}" offers no tool "${tool}".`);
      return server.call(tool, input, signal);
    },
    async close() {
      await Promise.all([...servers.values()].map(({ server }) => server.close()));
      await transports.close();
    },
  };
}

async function inventoryOf(settings: McpServerSettings, server: McpServer, signal: AbortSignal): Promise<McpInventory> {
  try {
    return { settings, tools: await server.tools(signal) };
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return { settings, trouble: error.message };
  }
}

interface Transports {
  open(
    settings: McpServerSettings,
    onLine: (line: string) => void,
    fill: FillTexts,
  ): Promise<() => Promise<McpTransport>>;
  close(): Promise<void>;
}

function createTransports({ env, memory, proxyOf }: McpDeps): Transports {
  let agent: Agent | undefined;
  const inherited = inheritedEnvironment(env);
  return {
    async open(settings, onLine, fill) {
      if (settings.transport === 'stdio') {
        const { StdioTransport } = await import('./stdio-transport.ts');
        return async () =>
          new StdioTransport({ settings: { ...settings, env: await fill(settings.env) }, inherited, onLine });
      }
      const { createMcpAgent, openHttpTransport } = await import('./http-transport.ts');
      return async () => openHttpTransport({ settings, agent: (agent ??= createMcpAgent(proxyOf)), memory, fill });
    },
    async close() {
      await agent?.destroy();
    },
  };
}

/**
 * Fills texts of one server.
 * @param onValues gets the values that were sent: no text of the server may repeat them
 */
function fillFor(
  name: string,
  fill: FillSecrets | undefined,
  onValues: (values: readonly string[]) => void,
): FillTexts {
  return async (texts, url) => {
    if (fill === undefined || !Object.values(texts).some(namesVault)) return texts;
    const filled = await fill(texts, { url, caller: `mcp:${name}` });
    onValues(filled.values);
    return filled.texts;
  };
}

/** A result that repeats no secret: an echo server is no way to read one. @spec vault-19 */
function hideIn(result: McpResult, values: readonly string[]): McpResult {
  if (values.length === 0) return result;
  const hide = createHider(values);
  const clean = (value: Json): Json => {
    if (typeof value === 'string') return hide(value);
    if (Array.isArray(value)) return value.map(clean);
    return isJsonObject(value) ? cleanObject(value) : value;
  };
  const cleanObject = (object: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(object).flatMap(([key, value]) => (value === undefined ? [] : [[hide(key), clean(value)]])),
    );
  const { content, structured } = result;
  return {
    ...result,
    content: content.map(cleanObject),
    ...(structured !== undefined && { structured: clean(structured) }),
  };
}

interface OpenServer extends McpServer {
  check(): Promise<McpCheck>;
  close(): Promise<void>;
}

function openServer(
  settings: McpServerSettings,
  { monotonicMs, log, fill }: McpDeps,
  transports: Transports,
): OpenServer {
  const { name, callMsMax } = settings;
  const secrets = secretsOf(settings);
  /** The secrets of the vault that it has. */
  let released: readonly string[] = [];
  const fillTexts = fillFor(name, fill, (values) => (released = values));
  const redact = (text: string): string => redactValues(text, [...secrets, ...released]);
  const notify = limitLines((event) => log(name, event), monotonicMs);
  const onTrouble = (trouble: string): void => notify({ trouble: redact(trouble) });
  let connection: Promise<McpConnection> | undefined;
  const connected = (): Promise<McpConnection> => (connection ??= connect());

  async function connect(): Promise<McpConnection> {
    const [open, { McpConnection: Connection }] = await Promise.all([
      transports.open(settings, (line) => notify({ line: redact(line) }), fillTexts),
      import('./connection.ts'),
    ]);
    return new Connection({
      name,
      callMsMax,
      open,
      monotonicMs,
      onChanged: () => lists.markStale(),
      redact,
      onTrouble,
    });
  }

  /** When the list began that is under way. */
  let listingSinceMs: number | undefined;

  async function list(): Promise<readonly McpTool[]> {
    listingSinceMs = monotonicMs();
    try {
      const { tools } = await (await connected()).inventory();
      return offered(tools, settings, onTrouble);
    } finally {
      listingSinceMs = undefined;
    }
  }

  /** A request that joins others in a futile wait waits no longer than they do: a server that hangs must not delay every request. */
  const patienceMs = (): number => WAIT_MS_MAX - (listingSinceMs === undefined ? 0 : monotonicMs() - listingSinceMs);

  const lists = createReadThroughCache({
    read: list,
    nowMs: monotonicMs,
    freshMs: LIST_FRESH_MS,
    staleMsMax: LIST_STALE_MS_MAX,
    readMsMax: LIST_MS_MAX,
    entriesMax: 1,
  });

  return {
    name,
    callMsMax,
    async tools(signal) {
      try {
        return await waitFor(lists.get(name), { server: name, limitMs: Math.max(0, patienceMs()), signal });
      } catch (error) {
        if (error instanceof McpError) throw error;
        throw new McpError('unavailable', `The MCP server "${name}" does not answer.`, { cause: error });
      }
    },
    async call(tool, input, signal, traceHeaders) {
      const meta = settings.sendsTraceContext === true ? traceHeaders?.() : undefined;
      return hideIn(await (await connected()).call(tool, input, signal, meta), released);
    },
    async check() {
      const { tools, title } = await (await connected()).inventory();
      return { title, tools: tools.length, offered: offered(tools, settings, () => undefined).length };
    },
    close: async () => (await connection)?.close(),
  };
}

type Notify = (event: Parameters<McpLog>[1]) => void;

/** A server that writes without end, or what is no message where messages are due, fills no disk. */
function limitLines(notify: Notify, monotonicMs: () => number): Notify {
  let startedMs = monotonicMs();
  let reported = 0;
  return (event) => {
    const nowMs = monotonicMs();
    if (nowMs - startedMs >= LINES_WINDOW_MS) [startedMs, reported] = [nowMs, 0];
    if (reported++ < LINES_MAX) notify(event);
  };
}

/** Names of arguments whose values are credentials. */
const SECRET_ARGUMENT = /token|key|secret|passw|auth|credential/i;

/** `--api-key=VALUE`, `--api-key VALUE` */
function secretsIn(args: readonly string[]): readonly string[] {
  return args.flatMap((argument, at) => {
    if (!argument.startsWith('-')) return [];
    const [name = '', ...value] = argument.split('=');
    if (!SECRET_ARGUMENT.test(name)) return [];
    return [value.length > 0 ? value.join('=') : (args[at + 1] ?? '')];
  });
}

/** What only the server is to know: values of headers, of its environment and arguments, and in its address. */
function secretsOf(settings: McpServerSettings): readonly string[] {
  if (settings.transport === 'stdio') return [...Object.values(settings.env), ...secretsIn(settings.args)];
  const values = [...Object.values(settings.headers), ...new URL(settings.url).searchParams.values()];
  // A server that names what it was sent leaves the scheme out (`Bearer`).
  return values.flatMap((value) => [value, value.slice(value.lastIndexOf(' ') + 1)]);
}

/** The operation continues after the wait: the next request may find its result. */
async function waitFor<Value>(
  value: Value | Promise<Value>,
  { server, limitMs, signal }: { readonly server: string; readonly limitMs: number; readonly signal: AbortSignal },
): Promise<Value> {
  if (!(value instanceof Promise)) return value;
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const give = (words: string) => (): void =>
      reject(new McpError('unavailable', `The MCP server "${server}" ${words}`));
    timer = setTimeout(give('is not ready yet.'), limitMs);
    stop = give('was not waited for.');
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([value, limit]);
  } finally {
    clearTimeout(timer);
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
}

/** Those that the operator lets through, as far as they are not too many. */
function offered(
  listed: readonly ListedTool[],
  { tools: patterns }: McpServerSettings,
  onTrouble: (trouble: string) => void,
): readonly McpTool[] {
  const tools = new Map<string, McpTool>();
  const leftOut: string[] = [];
  let bytes = 0;
  for (const { name, title = name, description: stated = '', inputSchema } of listed) {
    // Not every vendor takes a function without a description.
    const description = stated === '' ? title : stated;
    if (patterns?.some((pattern) => matchesName(pattern, name)) === false || tools.has(name)) continue;
    const schema = isJsonObject(inputSchema) ? inputSchema : { type: 'object' };
    const size = Buffer.byteLength(description) + Buffer.byteLength(JSON.stringify(schema));
    if (name === '' || name.length > NAME_CHARS_MAX || tools.size >= TOOLS_MAX || bytes + size > TOOLS_BYTES_MAX) {
      leftOut.push(name.slice(0, NAME_CHARS_MAX));
      continue;
    }
    bytes += size;
    tools.set(name, { name, description, inputSchema: schema });
  }
  if (leftOut.length > 0)
    onTrouble(`${leftOut.length} tools are left out: too many, or too long. The first is ${leftOut[0]}.`);
  return [...tools.values()];
}
