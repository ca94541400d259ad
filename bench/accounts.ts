import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { GATEWAY_KEY, START_FLAGS, writeConfig } from './gateway.ts';
import { createKey, manage, MANAGEMENT_KEY } from './manage.ts';
import { measureSettings, type Bench, type SettingResult } from './measure.ts';
import { readPeakMiB, type Peak } from './process-stats.ts';
import { startWatchedGateway, type LoadGenerator } from './processes.ts';
import { listAccountsSettings, type Plan } from './suites.ts';
import type { AccountsId, Variant } from './variants.ts';

const LABELS: Readonly<Record<AccountsId, string>> = {
  off: 'accounts off',
  embedded: 'on, embedded database',
  postgres: 'on, PostgreSQL and Redis',
};
/** More than any run spends or requests. */
const GRANT_USD = 1_000_000;
const KEY_LIMIT_USD = 100_000;
const RATE_LIMIT = { requests_per_minute: 1_000_000_000, tokens_per_minute: 1_000_000_000, concurrent: 10_000 };

interface AccountsDeps extends Pick<Bench, 'mock' | 'note'> {
  readonly load: LoadGenerator;
  readonly directory: string;
}

export interface AccountsResult {
  readonly results: readonly SettingResult[];
  readonly peaks: readonly Peak[];
}

/** The gateway with everything that accounts do, beside itself without: the same program, in the same rounds. */
export async function measureAccounts(
  deps: AccountsDeps,
  plan: Plan,
  rounds: Parameters<typeof measureSettings>[2],
): Promise<AccountsResult> {
  const ends: (() => unknown)[] = [];
  try {
    const shared = await findServices((end) => ends.push(end));
    const variants: Variant[] = [];
    for (const [id, environment] of [
      ['off', {}],
      ['embedded', {}],
      ...(shared === undefined ? [] : [['postgres', shared] as const]),
    ] as const) {
      const variant = await startVariant(deps, id, environment);
      ends.push(() => variant.server.stop());
      variants.push(variant);
    }
    const direct: Variant = {
      ...SAME_FORMAT,
      id: 'direct',
      label: 'direct to the mock',
      server: deps.mock,
      isGateway: false,
    };
    const bench: Bench = { ...deps, variants: [direct, ...variants] };
    const results = await measureSettings(bench, listAccountsSettings(plan), rounds);
    const peaks = variants.map(({ label, server }) => ({
      server: label,
      suite: 'accounts',
      peakMiB: readPeakMiB(server.pid),
    }));
    return { results, peaks };
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

const SAME_FORMAT = { callerFormat: 'chat', upstreamFormat: 'chat' } as const;

/** A scratch database and a prefix of its own in the servers that the tests use; undefined, aloud, where there are none. */
async function findServices(
  after: (end: () => unknown) => void,
): Promise<Readonly<Record<string, string>> | undefined> {
  const { POSTGRES_ENGINES } = await import('../tests/support/store/engines.ts');
  const { redis, useRedis } = await import('../tests/support/services/redis.ts');
  const place = await POSTGRES_ENGINES[0]?.makePlace();
  if (place?.url === undefined) return undefined;
  after(() => place.remove());
  if (redis === undefined) return undefined;
  const t = { after } as Parameters<typeof useRedis>[0];
  const { url, prefix } = useRedis(t);
  return { DATABASE_URL: place.url, REDIS_URL: url, REDIS_PREFIX: prefix.slice(1, -2) };
}

/** Every caller is limited in every way: by credit, by a key's limit of the day, by requests, tokens and requests at a time. */
async function startVariant(
  { directory, mock }: AccountsDeps,
  id: AccountsId,
  environment: Readonly<Record<string, string>>,
): Promise<Variant> {
  const own = path.join(directory, `accounts-${id}`);
  mkdirSync(own, { recursive: true });
  const configPath = path.join(own, 'gateway.json');
  const config = {
    ...writeConfig({ upstream: mock, models: ['whole'] }),
    credits: { enforce: true },
    rate_limits: { key: RATE_LIMIT, account: RATE_LIMIT },
  };
  writeFileSync(configPath, JSON.stringify(config, undefined, 2));
  const program = path.join(import.meta.dirname, 'servers', 'watched-gateway.ts');
  const server = await startWatchedGateway({
    name: `accounts-${id}`,
    args: [
      ...START_FLAGS,
      program,
      id === 'off' ? 'off' : 'on',
      '--config',
      configPath,
      '--port',
      '0',
      '--data-dir',
      own,
    ],
    cpu: 0,
    directory,
    environment: {
      PATH: process.env['PATH'] ?? '',
      GATEWAY_API_KEY: GATEWAY_KEY,
      GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY,
      ...environment,
    },
  });
  await manage(server, 'POST', '/credits/grants', { amount: GRANT_USD, note: 'bench' });
  const key = await createKey(server, { name: 'bench', limitUsd: KEY_LIMIT_USD, reset: 'daily' });
  return { ...SAME_FORMAT, id, label: LABELS[id], server, watched: server, key, isGateway: true };
}
