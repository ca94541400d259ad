import type { Agent } from 'undici';
import { McpError, type McpServer, type McpServers, type McpTool } from '../canonical/mcp.ts';
import { createFreshValues } from '../lib/fresh-values.ts';
import { censorValues } from '../lib/censor-values.ts';
import { isJsonObject } from '../lib/json.ts';
import { matchesName } from '../lib/name-pattern.ts';
import type { McpConnection, McpTransport } from './connection.ts';
import type { McpServerSettings } from './settings.ts';

/** A server that says nothing of changes is asked again after this. */
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
const INHERITED = ['PATH', 'HOME'];
/** What a server writes and what is wrong with it: so many lines in so long, and the rest is not logged. */
const LINES_MAX = 120;
const LINES_WINDOW_MS = 60_000;

export interface McpParts {
  readonly servers: readonly McpServerSettings[];
  /** Of the gateway, of which a server gets next to nothing. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly monotonicMs: () => number;
  readonly log: McpLog;
}

/** For the operator's eyes. */
export type McpLog = (server: string, event: { readonly line: string } | { readonly trouble: string }) => void;

/** What a look at a server came to. */
export interface McpCheck {
  /** Its name and version, as it says. */
  readonly title: string | undefined;
  readonly tools: number;
  /** Of them those that are offered. */
  readonly offered: number;
}

export interface McpGateway extends McpServers {
  /** @throws McpError */
  check(name: string): Promise<McpCheck>;
  /** Ends processes and sessions. */
  close(): Promise<void>;
}

/** Connects nobody before somebody asks, and loads nothing of the library before that. */
export function createMcpServers(parts: McpParts): McpGateway {
  const transports = createTransports(parts);
  const servers = new Map(
    parts.servers.map((one) => [one.name, { rules: one, server: openServer(one, parts, transports) }]),
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
    async close() {
      await Promise.all([...servers.values()].map(({ server }) => server.close()));
      await transports.close();
    },
  };
}

interface Transports {
  open(settings: McpServerSettings, onLine: (line: string) => void): Promise<() => McpTransport>;
  close(): Promise<void>;
}

function createTransports({ env }: McpParts): Transports {
  let agent: Agent | undefined;
  const inherited = Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    async open(settings, onLine) {
      if (settings.transport === 'stdio') {
        const { StdioTransport } = await import('./stdio-transport.ts');
        return () => new StdioTransport({ settings, inherited, onLine });
      }
      const { createMcpAgent, openHttpTransport } = await import('./http-transport.ts');
      return () => openHttpTransport(settings, (agent ??= createMcpAgent()));
    },
    async close() {
      await agent?.destroy();
    },
  };
}

interface OpenServer extends McpServer {
  check(): Promise<McpCheck>;
  close(): Promise<void>;
}

function openServer(settings: McpServerSettings, { monotonicMs, log }: McpParts, transports: Transports): OpenServer {
  const { name, callMsMax } = settings;
  const secrets = secretsOf(settings);
  const censor = (text: string): string => censorValues(text, secrets);
  const tell = limitLines((event) => log(name, event), monotonicMs);
  const onTrouble = (trouble: string): void => tell({ trouble: censor(trouble) });
  let connection: Promise<McpConnection> | undefined;
  const connected = (): Promise<McpConnection> => (connection ??= connect());

  async function connect(): Promise<McpConnection> {
    const [open, { McpConnection: Connection }] = await Promise.all([
      transports.open(settings, (line) => tell({ line: censor(line) })),
      import('./connection.ts'),
    ]);
    return new Connection({
      name,
      callMsMax,
      open,
      monotonicMs,
      onChanged: () => lists.outdate(),
      censor,
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

  /** Who comes while others wait in vain waits no longer than they do: a server that hangs does not hold every request. */
  function patienceMs(): number {
    return listingSinceMs === undefined ? WAIT_MS_MAX : WAIT_MS_MAX - (monotonicMs() - listingSinceMs);
  }

  const lists = createFreshValues({
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
    call: async (tool, input, signal) => (await connected()).call(tool, input, signal),
    async check() {
      const { tools, title } = await (await connected()).inventory();
      return { title, tools: tools.length, offered: offered(tools, settings, () => undefined).length };
    },
    close: async () => (await connection)?.close(),
  };
}

type Tell = (event: Parameters<McpLog>[1]) => void;

/** A server that writes without end, or what is no message where messages are due, fills no disk. */
function limitLines(tell: Tell, monotonicMs: () => number): Tell {
  let startedMs = monotonicMs();
  let told = 0;
  return (event) => {
    const nowMs = monotonicMs();
    if (nowMs - startedMs >= LINES_WINDOW_MS) [startedMs, told] = [nowMs, 0];
    if (told++ < LINES_MAX) tell(event);
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

/** What is waited for goes on: the next request may find it there. */
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
  for (const { name, title = name, description: said = '', inputSchema } of listed) {
    // Not every vendor takes a function without a description.
    const description = said === '' ? title : said;
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
