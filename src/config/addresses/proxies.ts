import type { ProxySettings } from '../../lib/net/proxy/proxies.ts';
import { ConfigError } from '../config-error.ts';
import { hasOneReading, isDecodable } from './database-url.ts';

/** The address itself is not repeated: it may hold a password. */
const PROXY_RULE =
  'must be the address of a proxy, such as http://user:password@host:3128 or https://host:3129 (in a password, @ is written %40, / is %2F, # is %23, ? is %3F and % is %25)';
const PROTOCOLS: ReadonlySet<string> = new Set(['http:', 'https:']);
const EXCEPTIONS_MAX = 200;

/**
 * What `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say, in upper or lower case. `undefined`: no proxy.
 * @param read a variable; `undefined` where it is empty
 * @throws ConfigError
 */
export function readProxies(read: (name: string) => string | undefined): ProxySettings | undefined {
  const [https, http] = ['HTTPS_PROXY', 'HTTP_PROXY'].map((name) => {
    const text = read(name) ?? read(name.toLowerCase());
    return text === undefined ? undefined : readAddress(name, text);
  });
  if (https === undefined && http === undefined) return undefined;
  return {
    ...(https !== undefined && { https }),
    ...(http !== undefined && { http }),
    except: readExceptions(read('NO_PROXY') ?? read('no_proxy') ?? ''),
  };
}

/** `host:3128` stands for `http://host:3128`, as other programs read it. */
function readAddress(name: string, text: string): string {
  const address = text.includes('://') ? text : `http://${text}`;
  if (URL.canParse(address) && hasOneReading(address)) {
    const { protocol, hostname, pathname, search, hash, username, password } = new URL(address);
    const isBare = pathname === '/' && search === '' && hash === '' && hostname !== '';
    if (isBare && PROTOCOLS.has(protocol) && isDecodable(username) && isDecodable(password)) return address;
  }
  throw new ConfigError(`${name}: ${PROXY_RULE}`);
}

function readExceptions(text: string): readonly string[] {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  if (entries.length > EXCEPTIONS_MAX) throw new ConfigError(`NO_PROXY: must have at most ${EXCEPTIONS_MAX} entries`);
  return entries;
}
