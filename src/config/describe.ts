import type { Config } from './config.ts';
import { formatPath } from './document.ts';
import { meaningOf } from './meanings.ts';
import { leavesOf } from './origins.ts';
import { formatBody, REDACTED } from './render.ts';

/** One value of the configuration in effect. */
export interface DescribedValue {
  /** `providers.alpha.api_key`. */
  readonly path: string;
  /** Secrets are redacted. */
  readonly value: unknown;
  /** Absent: it has its default. */
  readonly origin: string | undefined;
  /** One sentence. Absent: the schema does not say. */
  readonly what: string | undefined;
}

/** Every value of the configuration in effect, with where it comes from. */
export function describeConfig(config: Config): readonly DescribedValue[] {
  const inFile = leavesOf(formatBody(config)).map(({ path, value }) => ({
    path: formatPath(path),
    value,
    what: meaningOf(path),
  }));
  return [...outsideOf(config), ...inFile].map((each) => ({ ...each, origin: config.origins[each.path] }));
}

/** What no file may hold. */
function outsideOf(config: Config): readonly Omit<DescribedValue, 'origin'>[] {
  const redacted = (value: string | undefined): string | null => (value === undefined ? null : REDACTED);
  return [
    {
      path: 'data_dir',
      value: config.dataDir,
      what: 'The folder of the embedded database, the journal and stored files.',
    },
    { path: 'database_url', value: redacted(config.databaseUrl), what: 'The tables are in PostgreSQL.' },
    { path: 'redis_url', value: redacted(config.redisUrl), what: 'State is shared through Redis.' },
    { path: 'proxies.https', value: redacted(config.proxies?.https), what: 'The proxy for https addresses.' },
    { path: 'proxies.http', value: redacted(config.proxies?.http), what: 'The proxy for http addresses.' },
    { path: 'proxies.except', value: config.proxies?.except ?? [], what: 'Hosts that are called directly.' },
    { path: 'log_level', value: config.logLevel, what: 'The least severe lines that are logged.' },
    { path: 'log_format', value: config.logFormat, what: 'How log lines look.' },
    { path: 'management_key', value: redacted(config.managementKey), what: 'A management key of the environment.' },
    { path: 'api_key', value: redacted(config.apiKey), what: 'An API key of the environment.' },
    { path: 'secret', value: redacted(config.secret), what: 'Encrypts what is stored encrypted.' },
    {
      path: 'previous_secret',
      value: redacted(config.previousSecret),
      what: 'Decrypts what the last secret encrypted.',
    },
  ];
}
