import { resolve } from 'node:path';
import { ConfigError } from './config-error.ts';
import type { Config, ProviderConfig } from './config.ts';
import { countWorkers } from './count-workers.ts';
import { DATABASE_URL_RULE, isDatabaseUrl } from './addresses/database-url.ts';
import { CONFIG_FLAGS, parseFlags } from './flags.ts';
import { nearestName } from '../lib/text/nearest-name.ts';
import type { ProxySettings } from '../lib/net/proxy/proxies.ts';
import { readProxies } from './addresses/proxies.ts';
import { readConfigFile, type ProviderProblem } from './read-file.ts';
import type { AdapterOptions } from './read-options.ts';
import { readSecretVariable, readText, type ReadText } from './secret-file.ts';
import { MEMORY_LIMIT_MB_MAX, MEMORY_LIMIT_MB_MIN, WORKERS_MAX } from './schema/server.ts';
import { isRedisPrefix, isRedisUrl, REDIS_PREFIX_RULE, REDIS_URL_RULE } from './addresses/redis-url.ts';

export interface LoadConfigOptions {
  /** The command line after the command's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a text file, or throws as `fs.readFileSync` does. */
  readonly readFile?: (path: string) => string;
  /** Ids of the adapters that there are; absent: not checked. */
  readonly adapterIds?: readonly string[];
  /** What may stand under `options` of a provider, by the id of its adapter; absent: not checked. */
  readonly adapterOptions?: Readonly<Record<string, AdapterOptions>>;
  /** What an adapter finds wrong in an entry of `providers`; absent: not checked. */
  readonly checkProvider?: (entry: ProviderConfig) => ProviderProblem | undefined;
  /** Slugs of the providers that need no entry; absent: what endpoints name is not checked. */
  readonly providerIds?: readonly string[];
}

export const DEFAULT_PATH = 'gateway.yaml';
const DEFAULT_DATA_DIR = './data';
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const KEY_CHARS_MAX = 512;

/**
 * The configuration in effect: flags before environment before file before defaults. Without `--config` and
 * `GATEWAY_CONFIG`, `gateway.yaml` of the working directory is read if there is one. Frozen.
 * @throws ConfigError whose message is a complete sentence for the operator
 */
export function loadConfig(options: LoadConfigOptions): Config {
  const { values: flags, words } = parseFlags(options.argv, CONFIG_FLAGS);
  if (words[0] !== undefined) throw new ConfigError(`${words[0]}: unexpected argument`, { isUsage: true });
  const flagPort = flags.port === undefined ? undefined : readPort('--port', flags.port);
  const flagWorkers = flags.workers === undefined ? undefined : readWorkers('--workers', flags.workers);
  const environment = readEnvironment(options.env, options.readFile ?? readText);
  const file = readFileOf(flags.config ?? environment.config, environment.memoryLimitMb, options);
  const workers = flagWorkers ?? environment.workers;
  const config: Config = {
    ...file,
    server: {
      ...file.server,
      host: flags.host ?? environment.host ?? file.server.host,
      port: flagPort ?? environment.port ?? file.server.port,
      workers: workers === undefined ? file.server.workers : countWorkers(workers, file.memory.limitBytes),
    },
    dataDir: resolve(flags['data-dir'] ?? environment.dataDir ?? DEFAULT_DATA_DIR),
    ...(environment.databaseUrl !== undefined && { databaseUrl: environment.databaseUrl }),
    ...(environment.redisUrl !== undefined && { redisUrl: environment.redisUrl }),
    ...(environment.proxies !== undefined && { proxies: environment.proxies }),
    redisPrefix: environment.redisPrefix ?? file.redisPrefix,
    ...(environment.managementKey !== undefined && { managementKey: environment.managementKey }),
    ...(environment.apiKey !== undefined && { apiKey: environment.apiKey }),
    ...(environment.secret !== undefined && { secret: environment.secret }),
    ...(environment.previousSecret !== undefined && { previousSecret: environment.previousSecret }),
    logLevel: environment.logLevel ?? 'info',
    logFormat: readLogFormat(flags['log-format'], options.env['GATEWAY_LOG_FORMAT']),
    origins: { ...file.origins, ...originsAside(flags, options.env) },
  };
  return deepFreeze(config);
}

/** What flags and variables say, by the path of what they set: a flag wins, and both win over the file. */
const ASIDE = [
  ['server.host', 'host', 'GATEWAY_HOST'],
  ['server.port', 'port', 'GATEWAY_PORT'],
  ['server.workers', 'workers', 'GATEWAY_WORKERS'],
  ['server.memory_limit_mb', undefined, 'GATEWAY_MEMORY_LIMIT_MB'],
  ['redis_prefix', undefined, 'REDIS_PREFIX'],
  ['data_dir', 'data-dir', 'GATEWAY_DATA_DIR'],
  ['log_level', undefined, 'GATEWAY_LOG_LEVEL'],
  ['log_format', 'log-format', 'GATEWAY_LOG_FORMAT'],
  ['database_url', undefined, 'DATABASE_URL'],
  ['redis_url', undefined, 'REDIS_URL'],
  ['proxies.https', undefined, 'HTTPS_PROXY'],
  ['proxies.http', undefined, 'HTTP_PROXY'],
  ['proxies.except', undefined, 'NO_PROXY'],
  ['management_key', undefined, 'GATEWAY_MANAGEMENT_KEY'],
  ['api_key', undefined, 'GATEWAY_API_KEY'],
  ['secret', undefined, 'GATEWAY_SECRET'],
  ['previous_secret', undefined, 'GATEWAY_SECRET_PREVIOUS'],
] as const;

function originsAside(
  flags: Readonly<Partial<Record<string, unknown>>>,
  env: LoadConfigOptions['env'],
): Readonly<Record<string, string>> {
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== '';
  return Object.fromEntries(
    ASIDE.flatMap(([path, flag, variable]) => {
      if (flag !== undefined && flags[flag] !== undefined) return [[path, `--${flag}`] as const];
      const [set] = [variable, `${variable}_FILE`].filter(isSet);
      return set === undefined ? [] : [[path, set] as const];
    }),
  );
}

/** What `TextDecoder` says of other encodings, in which a name would be read as another one. */
const NOT_UTF_8 = 'ERR_ENCODING_INVALID_ENCODED_DATA';

function readFileOf(named: string | undefined, memoryLimitMb: number | undefined, options: LoadConfigOptions) {
  const path = named ?? DEFAULT_PATH;
  const readFile = options.readFile ?? readText;
  const { env, adapterIds, adapterOptions, providerIds, checkProvider } = options;
  let text: string | undefined;
  try {
    text = readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === NOT_UTF_8) throw new ConfigError(`${path}: is not UTF-8 text`, { cause: error });
    if (code !== 'ENOENT')
      throw new ConfigError(`${path}: cannot be read (${String(code ?? error)})`, { cause: error });
    if (named !== undefined) throw new ConfigError(`${path}: there is no such file`, { cause: error });
  }
  const file = readConfigFile({
    path,
    text: text ?? '',
    env,
    readText: readFile,
    adapterIds,
    adapterOptions,
    providerIds,
    checkProvider,
    memoryLimitMb,
  });
  return text === undefined ? file : { ...file, path };
}

interface EnvironmentConfig {
  readonly config: string | undefined;
  readonly port: number | undefined;
  readonly workers: number | 'auto' | undefined;
  readonly host: string | undefined;
  readonly dataDir: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly proxies: ProxySettings | undefined;
  readonly redisPrefix: string | undefined;
  readonly managementKey: string | undefined;
  readonly apiKey: string | undefined;
  readonly secret: string | undefined;
  readonly previousSecret: string | undefined;
  readonly logLevel: string | undefined;
  readonly memoryLimitMb: number | undefined;
}

function readEnvironment(env: LoadConfigOptions['env'], readFile: ReadText): EnvironmentConfig {
  // An empty variable is how compose files and shells say "not set".
  const read = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const port = read('GATEWAY_PORT');
  const workers = read('GATEWAY_WORKERS');
  const readSecret = (name: string): string | undefined => readSecretVariable(env, name, readFile);
  const managementKey = readKey('GATEWAY_MANAGEMENT_KEY', readSecret('GATEWAY_MANAGEMENT_KEY'));
  const apiKey = readKey('GATEWAY_API_KEY', readSecret('GATEWAY_API_KEY'));
  if (managementKey !== undefined && managementKey === apiKey)
    throw new ConfigError('GATEWAY_API_KEY: must differ from GATEWAY_MANAGEMENT_KEY');
  return {
    config: read('GATEWAY_CONFIG'),
    port: port === undefined ? undefined : readPort('GATEWAY_PORT', port),
    workers: workers === undefined ? undefined : readWorkers('GATEWAY_WORKERS', workers),
    host: read('GATEWAY_HOST'),
    dataDir: read('GATEWAY_DATA_DIR'),
    databaseUrl: readDatabaseUrl(readSecret('DATABASE_URL')),
    redisUrl: readRedisUrl(readSecret('REDIS_URL')),
    proxies: readProxies((name) => (name.startsWith('NO') || name.startsWith('no') ? read(name) : readSecret(name))),
    redisPrefix: readRedisPrefix(read('REDIS_PREFIX')),
    managementKey,
    apiKey,
    secret: readSecret('GATEWAY_SECRET'),
    previousSecret: readSecret('GATEWAY_SECRET_PREVIOUS'),
    logLevel: readLogLevel(read('GATEWAY_LOG_LEVEL')),
    memoryLimitMb: readMemoryLimit(read('GATEWAY_MEMORY_LIMIT_MB')),
  };
}

function readDatabaseUrl(url: string | undefined): string | undefined {
  if (url === undefined || isDatabaseUrl(url)) return url;
  throw new ConfigError(`DATABASE_URL: ${DATABASE_URL_RULE}`);
}

function readRedisUrl(url: string | undefined): string | undefined {
  if (url === undefined || isRedisUrl(url)) return url;
  throw new ConfigError(`REDIS_URL: ${REDIS_URL_RULE}`);
}

function readRedisPrefix(prefix: string | undefined): string | undefined {
  if (prefix === undefined || isRedisPrefix(prefix)) return prefix;
  throw new ConfigError(`REDIS_PREFIX: ${REDIS_PREFIX_RULE}`);
}

function readPort(name: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  // Kubernetes sets NAME_PORT=tcp://... in every pod beside a Service called "gateway".
  const hint = text.startsWith('tcp://') ? ' (set by Kubernetes? turn enableServiceLinks off)' : '';
  throw new ConfigError(
    `${name}: must be a whole number from 0 to 65535, not ${JSON.stringify(text.slice(0, 40))}${hint}`,
    {
      isUsage: name.startsWith('-'),
    },
  );
}

function readWorkers(name: string, text: string): number | 'auto' {
  if (text === 'auto') return text;
  const workers = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (workers >= 1 && workers <= WORKERS_MAX) return workers;
  throw new ConfigError(
    `${name}: must be auto or a whole number from 1 to ${WORKERS_MAX}, not ${JSON.stringify(text.slice(0, 40))}`,
    { isUsage: name.startsWith('-') },
  );
}

/** A key outside these bounds would be refused in every request's header. */
function readKey(name: string, key: string | undefined): string | undefined {
  if (key === undefined || (key.length <= KEY_CHARS_MAX && /^[\x21-\x7e]+$/.test(key))) return key;
  throw new ConfigError(`${name}: must be at most ${KEY_CHARS_MAX} characters of printable ASCII without spaces`);
}

/** An empty variable is how compose files and shells say "not set". */
function readLogFormat(flag: string | undefined, variable: string | undefined): Config['logFormat'] {
  const format = flag ?? (variable || 'json');
  if (format === 'json' || format === 'pretty') return format;
  const name = flag === undefined ? 'GATEWAY_LOG_FORMAT' : '--log-format';
  throw new ConfigError(`${name}: must be json or pretty, not ${JSON.stringify(format.slice(0, 40))}`, {
    isUsage: flag !== undefined,
  });
}

function readLogLevel(level: string | undefined): string | undefined {
  if (level === undefined || LOG_LEVELS.includes(level)) return level;
  const nearest = nearestName(level, LOG_LEVELS);
  const hint = nearest === undefined ? `one of ${LOG_LEVELS.join(', ')}` : `did you mean "${nearest}"?`;
  throw new ConfigError(`GATEWAY_LOG_LEVEL: unknown level ${JSON.stringify(level.slice(0, 40))}; ${hint}`);
}

function readMemoryLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const mb = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (mb >= MEMORY_LIMIT_MB_MIN && mb <= MEMORY_LIMIT_MB_MAX) return mb;
  throw new ConfigError(
    `GATEWAY_MEMORY_LIMIT_MB: must be a whole number from ${MEMORY_LIMIT_MB_MIN} to ${MEMORY_LIMIT_MB_MAX}, not ${JSON.stringify(text.slice(0, 40))}`,
  );
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
