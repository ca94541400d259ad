import { z } from 'zod';
import type { McpServerConfig } from './config.ts';
import { key } from './schema/key.ts';

/** Of a call; far beyond any useful wait for a tool. */
const CALL_MS_MAX = 3_600_000;
const CALL_MS_DEFAULT = 60_000;
const SERVERS_MAX = 64;
/** Patterns, workspaces or keys in one list. */
const LIST_MAX = 256;
const ARGS_MAX = 100;
const VARIABLES_MAX = 100;
/** It is part of the names of functions, of which models take 64 characters. */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;
const NAME_RULE = 'must be 1 to 32 of a-z, 0-9 and "-", with a letter or digit at both ends';
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const KEY_HASH = /^[0-9a-f]{64}$/;

/** The last one means "no change" to the system. */
const USER_ID_MAX = 4_294_967_294;

const text = z.string().min(1);
const userId = z.int().min(0).max(USER_ID_MAX);
/** No byte of it ends what the system calls are given. */
const plain = z.string().refine((value) => !value.includes('\0'), 'must not contain a null character');

/**
 * The address of an MCP server. Some hosts want a key in its query, so that may stand there.
 * @source modelcontextprotocol.io "Transports", read 2026-11
 */
const serverUrl = z.string().refine((value) => {
  const url = URL.parse(value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && !value.includes('#');
}, 'must be an http:// or https:// URL without user and fragment');

/** One entry of `mcp_servers`. @param headers as providers have them */
export function mcpServerShape<Headers extends z.ZodType>(headers: Headers) {
  return {
    url: key(serverUrl, 'The address of a server over HTTP.', {
      usual: 'none: then `command`',
      example: 'https://mcp.example/mcp',
    }),
    headers: key(headers, 'Sent to it with every request.', {
      usual: 'none',
      example: { authorization: 'Bearer ${WIKI_TOKEN}' },
    }),
    command: key(plain.min(1), 'The program of a server that runs beside the gateway.', {
      usual: 'none: then `url`',
      example: 'npx',
    }),
    args: key(z.array(plain).max(ARGS_MAX), 'Its arguments.', { usual: 'none', example: ['-y', 'some-mcp-server'] }),
    env: key(
      z
        .record(z.string().regex(VARIABLE, 'is no name of a variable'), plain)
        .refine((env) => Object.keys(env).length <= VARIABLES_MAX, `must have at most ${VARIABLES_MAX} variables`),
      'Its environment, beside PATH and HOME.',
      { usual: 'none', example: { TOKEN: '${WIKI_TOKEN}' } },
    ),
    cwd: key(plain.min(1), 'Its working directory.', { usual: "the gateway's", example: '/srv/wiki' }),
    uid: key(userId, 'The user that it runs as, by number.', { usual: "the gateway's", example: 1_000 }),
    gid: key(userId, 'Its group, by number.', { usual: "the gateway's", example: 1_000 }),
    tools: key(z.array(text).max(LIST_MAX), 'Tools that are offered, with `*` for any characters.', {
      usual: 'all',
      example: ['read_*'],
    }),
    timeout_ms: key(z.int().min(1).max(CALL_MS_MAX), 'A call may take so long.', { default: CALL_MS_DEFAULT }),
    trace_context: key(
      z.boolean(),
      'Calls carry `traceparent` and `tracestate` in `_meta`, so that it joins the traces that destinations receive.',
      {
        default: false,
      },
    ),
    enabled: key(z.boolean(), 'Whether it is used.', { default: true }),
    workspaces: key(z.array(z.uuid('must be the id of a workspace')).max(LIST_MAX), 'Workspaces that may use it.', {
      usual: 'all',
      example: ['11111111-1111-4111-8111-111111111111'],
    }),
    keys: key(
      z.array(z.string().regex(KEY_HASH, 'must be the hash of an API key')).max(LIST_MAX),
      'Hashes of the keys that may use it.',
      { usual: 'all', example: ['0'.repeat(64)] },
    ),
  };
}

interface Entry {
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly timeout_ms?: number | undefined;
  readonly trace_context?: boolean | undefined;
  readonly enabled?: boolean | undefined;
  readonly workspaces?: readonly string[] | undefined;
  readonly keys?: readonly string[] | undefined;
}

const OF_HTTP = ['headers'] as const;
const OF_STDIO = ['args', 'env', 'cwd', 'uid', 'gid'] as const;
/** By what the entry is. */
const GOES_WITH = { url: 'goes with command, not with url', command: 'goes with url, not with command' } as const;

/** A server is an address or a command, and has the members of the one or the other. */
export function checkTransport(entry: Entry, context: z.RefinementCtx): void {
  const report = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: path === '' ? [] : [path], message, input: entry });
  if ((entry.url === undefined) === (entry.command === undefined)) {
    report('', 'must have either url or command');
    return;
  }
  // The groups of the gateway would stay with the child.
  if (entry.uid !== undefined && entry.gid === undefined) report('gid', 'is required where uid is set');
  const foreign = entry.url === undefined ? OF_HTTP : OF_STDIO;
  for (const member of foreign)
    if (entry[member] !== undefined) report(member, GOES_WITH[entry.url === undefined ? 'command' : 'url']);
}

export function mcpServersSection<Server extends z.ZodType>(server: Server) {
  return z.preprocess(
    (value) => value ?? {},
    z
      .record(z.string().regex(NAME, NAME_RULE), server)
      .refine((servers) => Object.keys(servers).length <= SERVERS_MAX, `must be at most ${SERVERS_MAX} servers`),
  );
}

export function mcpServerOf(name: string, entry: Entry): McpServerConfig {
  const { tools, workspaces, keys } = entry;
  const common = {
    name,
    enabled: entry.enabled ?? true,
    callMsMax: entry.timeout_ms ?? CALL_MS_DEFAULT,
    ...(entry.trace_context === true && { sendsTraceContext: true as const }),
    ...(tools !== undefined && { tools }),
    ...(workspaces !== undefined && { workspaces }),
    ...(keys !== undefined && { keys }),
  };
  if (entry.url !== undefined) return { ...common, transport: 'http', url: entry.url, headers: entry.headers ?? {} };
  return {
    ...common,
    transport: 'stdio',
    command: entry.command ?? '',
    args: entry.args ?? [],
    env: entry.env ?? {},
    ...(entry.cwd !== undefined && { cwd: entry.cwd }),
    ...(entry.uid !== undefined && { uid: entry.uid }),
    ...(entry.gid !== undefined && { gid: entry.gid }),
  };
}

/** As the file has them. Whatever may carry a credential is replaced: headers, a query, arguments, variables. */
export function formatMcpServers(servers: readonly McpServerConfig[], redacted: string): object {
  return Object.fromEntries(servers.map((server) => [server.name, formatServer(server, redacted)]));
}

function formatServer(server: McpServerConfig, redacted: string): object {
  const common = {
    tools: server.tools,
    timeout_ms: server.callMsMax,
    trace_context: server.sendsTraceContext,
    enabled: server.enabled,
    workspaces: server.workspaces,
    keys: server.keys,
  };
  const hide = (values: Readonly<Record<string, string>>): object =>
    Object.fromEntries(Object.keys(values).map((name) => [name, redacted]));
  if (server.transport === 'http')
    return { url: server.url.replace(/\?.*$/s, `?${redacted}`), headers: hide(server.headers), ...common };
  const { command, args, env, cwd, uid, gid } = server;
  return { command, args: args.map(() => redacted), env: hide(env), cwd, uid, gid, ...common };
}
