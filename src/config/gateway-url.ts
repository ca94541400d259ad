import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { ConfigError } from './config-error.ts';
import { readDocument } from './document.ts';
import { DEFAULT_PATH } from './load-config.ts';
import { valueAt } from './problems.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Listens on every address, of which the loopback one is near. */
const EVERY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * Where the gateway of this machine listens, by the environment and the file that `serve` would read. Only that is looked at:
 * variables and files that hold its secrets need not be there, and a mistake elsewhere in the file is not this caller's.
 * @param named the file; absent: as `serve` finds it
 * @throws ConfigError where a file that was named is not there
 */
export function findGatewayUrl(named: string | undefined, env: Environment): string {
  const set = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const server = readServer(named ?? set('GATEWAY_CONFIG'), env);
  const host = set('GATEWAY_HOST') ?? textAt(server, 'host') ?? '127.0.0.1';
  const port = set('GATEWAY_PORT') ?? textAt(server, 'port') ?? '8787';
  const near = EVERY_ADDRESS[host] ?? host;
  return `http://${isIPv6(near) ? `[${near}]` : near}:${port}`;
}

function readServer(named: string | undefined, env: Environment): unknown {
  let text = '';
  try {
    text = readFileSync(named ?? DEFAULT_PATH, 'utf8');
  } catch (error) {
    if (named !== undefined) throw new ConfigError(`${named}: cannot be read`, { cause: error });
  }
  const filled = new Proxy(env, { get: (variables, name) => variables[String(name)] ?? '' });
  return valueAt(readDocument(text, filled, () => 'unread').value, ['server']);
}

function textAt(server: unknown, member: string): string | undefined {
  const value = valueAt(server, [member]);
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : undefined;
}
