import type { Config } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { createHttpClient } from '../lib/net/http-client.ts';
import { createProxyOf } from '../lib/net/proxy/proxies.ts';
import { ADAPTERS, KNOWN_PROVIDER_IDS } from '../providers/index.ts';
import { providersFromConfig } from '../app/providers/providers-from-config.ts';
import type { Provider, ProviderAdapter } from '../providers/contract.ts';
import { checkClock, checkDataDir, checkSecret } from './doctor/check-machine.ts';
import { embeddedDatabaseOf } from '../app/embedded-database.ts';
import { checkContainers } from './doctor/check-containers.ts';
import { checkDatabase } from './doctor/check-database.ts';
import { checkMail } from './doctor/check-mail.ts';
import { checkMcpServers } from './doctor/check-mcp.ts';
import { checkModelNames } from './doctor/check-model-names.ts';
import { checkProvider } from '../app/check-provider/check-provider.ts';
import { openVaultFor } from './doctor/check-vault.ts';
import { checkRedis } from './doctor/check-redis.ts';
import { UsageError } from './command.ts';
import type { Io } from './command.ts';
import type { Finding, ProviderFinding } from '../app/check-provider/finding.ts';
import { loadCheckedConfig } from './load-config.ts';
import { keyPrefix } from '../state/redis/key-prefix.ts';

const LIMIT_MS = 15_000;
/** Providers that are checked in parallel. */
const REQUESTED_AT_ONCE_MAX = 8;
const VERDICTS = { ok: 'ok      ', warning: 'warning ', failed: 'FAILED  ' } as const;
/** Stands for the sandbox's address: it runs inside the gateway, and is not called. */
const SANDBOX_BASE_URL = 'http://127.0.0.1/v1';
const SANDBOX = ADAPTERS.sandbox.id;

/** `model-gateway doctor [PROVIDER...]`: exits with 1 when something would not work. */
export async function runDoctor(args: readonly string[], io: Io): Promise<number> {
  const { names, flags } = splitArguments(args);
  const { config } = loadCheckedConfig(flags, io.env);
  const providers = providersToCheck(config, io.env, names);
  const report = (subject: string, { verdict, message }: Finding): void => {
    io.stdout.write(`${VERDICTS[verdict]}${subject.padEnd(16)} ${message}\n`);
  };
  const machine = [
    ['configuration', { verdict: 'ok', message: config.path ?? 'There is no file; everything has its default.' }],
    ['data directory', await checkDataDir(config.dataDir)],
    ...(await checkFilesDirectory(config)),
    ['secret', checkSecret(config.secret)],
    ['database', await checkDatabase(config.databaseUrl, embeddedDatabaseOf(config))],
    ['redis', await checkRedis(config.redisUrl, keyPrefix(config.redisPrefix))],
    ...(await checkContainers(config, io.env)),
  ] as const satisfies readonly (readonly [string, Finding])[];
  for (const [subject, finding] of machine) report(subject, finding);
  const vault = await openVaultFor(config, io.env);
  const secrets = (await vault?.check()) ?? [];
  const mail = await checkMail(config, vault?.fill);
  for (const [subject, finding] of [...secrets, ...mail]) report(subject, finding);
  const findings = await checkAll(vault?.withSecrets(providers) ?? providers, config, report);
  // A check of named providers does not include MCP servers.
  const servers = names.length > 0 ? [] : await checkMcpServers(config, io.env, report, vault?.fill);
  await vault?.close();
  const clock = checkClock(findings);
  report('clock', clock);
  for (const hint of hintsOf(io.env, config)) report(...hint);
  for (const finding of await checkModelNames(config, io.env)) report('configuration', finding);
  if (findings.length === 0) io.stdout.write('No provider is configured; only the sandbox answers.\n');
  const machineFindings = [...machine, ...secrets, ...mail].map(([, finding]) => finding);
  const all: readonly Finding[] = [...machineFindings, ...findings, ...servers, clock];
  return all.some(({ verdict }) => verdict === 'failed') ? 1 : 0;
}

/** Below the data directory it needs no look of its own. */
async function checkFilesDirectory({ files }: Pick<Config, 'files'>): Promise<readonly (readonly [string, Finding])[]> {
  return files.directory === undefined ? [] : [['stored files', await checkDataDir(files.directory)]];
}

/** Words are providers; what begins with a dash belongs to the configuration, with the word behind it. */
function splitArguments(args: readonly string[]): { readonly names: readonly string[]; readonly flags: string[] } {
  const names: string[] = [];
  const flags: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? '';
    if (!word.startsWith('-')) names.push(word);
    else {
      flags.push(word);
      const next = args[index + 1];
      if (!word.includes('=') && next !== undefined && !next.startsWith('-')) {
        flags.push(next);
        index++;
      }
    }
  }
  return { names, flags };
}

function providersToCheck(config: Config, env: Io['env'], names: readonly string[]): readonly Provider[] {
  const all = providersFromConfig(config, env, SANDBOX_BASE_URL);
  for (const name of names) {
    if (all.has(name)) continue;
    const known = [...all.keys()].filter((slug) => slug !== SANDBOX).join(', ');
    throw new UsageError(`${name}: no such provider is configured; there ${known === '' ? 'is none' : `are ${known}`}`);
  }
  return [...all.values()].filter(
    ({ adapter, settings }) => adapter.id !== SANDBOX && (names.length === 0 || names.includes(settings.slug)),
  );
}

async function checkAll(
  providers: readonly Provider[],
  config: Config,
  report: (subject: string, finding: Finding) => void,
): Promise<readonly ProviderFinding[]> {
  const http = createHttpClient({ proxyOf: createProxyOf(config.proxies) });
  const findings: ProviderFinding[] = [];
  try {
    for (let start = 0; start < providers.length; start += REQUESTED_AT_ONCE_MAX) {
      const some = providers.slice(start, start + REQUESTED_AT_ONCE_MAX);
      const found = await Promise.all(
        some.map((provider) =>
          checkProvider(provider, {
            http,
            nowMs: () => systemClock.nowMs(),
            limitMs: LIMIT_MS,
            models: modelsAt(config, provider.settings.slug),
          }),
        ),
      );
      for (const [index, finding] of found.entries()) report(some[index]?.settings.slug ?? '', finding);
      findings.push(...found);
    }
  } finally {
    await http.close();
  }
  return findings;
}

function modelsAt({ models }: Config, slug: string): readonly string[] {
  const names = models.flatMap(({ endpoints }) =>
    endpoints.filter(({ provider }) => provider === slug).map(({ model }) => model),
  );
  return [...new Set(names)];
}

/** A provider that is meant to be on, and is not: some of its variables are set. */
function hintsOf(env: Io['env'], config: Config): readonly (readonly [string, Finding])[] {
  const isSet = (name: string): boolean => (env[name] ?? '').trim() !== '';
  return KNOWN_PROVIDER_IDS.flatMap((id) => {
    const { turnedOnBy = [] }: ProviderAdapter = ADAPTERS[id];
    const missing = turnedOnBy.filter((name) => !isSet(name));
    const [set] = turnedOnBy.filter(isSet);
    // AWS_REGION alone does not ask for a provider.
    if (missing.length === 0 || set === undefined || set !== turnedOnBy[0]) return [];
    if (config.providers.some(({ slug }) => slug === id)) return [];
    const message = `${set} is set, but ${missing.join(' and ')} is not, so this provider is off.`;
    return [[id, { verdict: 'warning', message } satisfies Finding] as const];
  });
}
