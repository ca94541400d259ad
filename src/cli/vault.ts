import { text } from 'node:stream/consumers';
import { findUnresolved } from '../app/vault/find-unresolved.ts';
import { providersFromConfig } from '../app/providers/providers-from-config.ts';
import { namesSecret, vaultReferencesIn } from '../app/vault/references.ts';
import { openVaultArea, type VaultArea } from '../app/vault/vault-area.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { VaultScope } from '../canonical/vault-reference.ts';
import type { Config } from '../config/config.ts';
import { CONFIG_FLAGS, parseFlags, type ParsedFlags } from '../config/flags.ts';
import { systemClock } from '../lib/clock.ts';
import { isUuid } from '../lib/ids.ts';
import { OPERATOR_SCOPE, type NewVaultSecret, type Vault } from '../vault/vault.ts';
import { openAuditTrail, type RecordChange } from './audit/audit-trail.ts';
import { CommandError, unknownVerb, UsageError, type Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { openConfiguredDatabase } from './open-database.ts';

const FLAGS = {
  ...CONFIG_FLAGS,
  hosts: { type: 'string' },
  external: { type: 'string' },
  workspace: { type: 'string' },
  intern: { type: 'string' },
  force: { type: 'boolean' },
} as const;

const VERBS = ['set', 'list', 'delete', 'releases', 'rotate-check', 'doctor'] as const;
type Verb = (typeof VERBS)[number];
type Values = ParsedFlags<typeof FLAGS>['values'];

const MS_PER_DAY = 86_400_000;
const PAGE_ROWS = 1_000;
const RELEASES_SHOWN = 100;
const SANDBOX_BASE_URL = 'http://127.0.0.1/v1';

/** `model-gateway vault`: works on the store itself; a running gateway sees the change within seconds. */
export async function runVault(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [word, ...operands] = words;
  const verb = VERBS.find((known) => known === word);
  if (verb === undefined) throw unknownVerb('vault', word, VERBS);
  checkOperands(verb, operands, values);
  const scope = scopeOf(values);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const { external } = values;
  const value = verb === 'set' && external === undefined ? await readValue(io) : undefined;
  const database = await openConfiguredDatabase(config, { makes: verb === 'set' });
  const area = openVaultArea({ config, database, clock: systemClock });
  const vault = area.openVault(async ({ kind }, name) =>
    kind === 'operator'
      ? vaultReferencesIn(config)
          .filter(({ text: named }) => namesSecret(named, name))
          .map(({ path }) => path)
      : [],
  );
  try {
    const name = operands[0] ?? '';
    const recordChange = openAuditTrail(database, io);
    if (verb === 'list') await listSecrets(vault, scope, io);
    else if (verb === 'releases') await listReleases(vault, scope, io);
    else if (verb === 'rotate-check') return await checkAges(vault, scope, io);
    else if (verb === 'doctor') return await checkReferences(config, area, io);
    else
      await change(
        vault,
        scope,
        {
          verb,
          name,
          secret: external === undefined ? { value } : { external },
          hosts: values.hosts?.split(',').filter((host) => host !== '') ?? [],
          force: values.force === true,
        },
        recordChange,
      );
    return 0;
  } catch (error) {
    if (error instanceof GatewayError) throw new CommandError(error.message);
    throw error;
  } finally {
    await area.close();
    await database.close();
  }
}

function checkOperands(verb: Verb, operands: readonly string[], { hosts, external, force }: Values): void {
  const wanted = verb === 'set' || verb === 'delete' ? 1 : 0;
  if (operands.length < wanted) throw new UsageError(`vault ${verb}: name a secret`);
  if (operands.length > wanted)
    throw new UsageError(
      verb === 'set'
        ? 'vault set: the value is read from standard input, so that no list of processes shows it'
        : `vault ${verb}: ${operands[wanted]}: unexpected argument`,
    );
  if (verb === 'set' && hosts === undefined)
    throw new UsageError('vault set: name the hosts that it may be sent to: --hosts HOST,HOST');
  if (verb !== 'set' && hosts !== undefined) throw new UsageError(`vault ${verb}: --hosts belongs to "vault set"`);
  if (verb !== 'set' && external !== undefined)
    throw new UsageError(`vault ${verb}: --external belongs to "vault set"`);
  if (verb !== 'delete' && force === true) throw new UsageError(`vault ${verb}: --force belongs to "vault delete"`);
}

function scopeOf({
  workspace,
  intern,
}: {
  readonly workspace?: string | undefined;
  readonly intern?: string | undefined;
}): VaultScope {
  if (intern !== undefined) {
    if (workspace !== undefined || !isUuid(intern))
      throw new UsageError('vault: --intern takes the id of an intern, alone');
    return { kind: 'intern', id: intern };
  }
  if (workspace === undefined || workspace === OPERATOR_SCOPE.id) return OPERATOR_SCOPE;
  if (!isUuid(workspace)) throw new UsageError('vault: --workspace takes the id of a workspace');
  return { kind: 'workspace', id: workspace };
}

/** The whole input, without the line end that a terminal or `echo` adds. */
async function readValue({ stdin, stderr }: Io): Promise<string> {
  if (stdin.isTTY === true) stderr.write('The value, then Enter and Ctrl-D: ');
  const value = (await text(stdin)).replace(/\r?\n$/, '');
  if (value === '') throw new UsageError('vault set: there is no value on standard input');
  return value;
}

async function change(
  vault: Vault,
  scope: VaultScope,
  {
    verb,
    name,
    secret,
    hosts,
    force,
  }: {
    readonly verb: 'set' | 'delete';
    readonly name: string;
    readonly secret: Pick<NewVaultSecret, 'value' | 'external'>;
    readonly hosts: readonly string[];
    readonly force: boolean;
  },
  recordChange: RecordChange,
): Promise<void> {
  if (verb === 'set') await vault.put(scope, name, { ...secret, hosts });
  else await vault.delete(scope, name, force);
  await recordChange(`vault ${verb}`, `/vault/secrets/${name} in ${scope.id}`);
}

async function listSecrets(vault: Vault, scope: VaultScope, { stdout }: Io): Promise<void> {
  const { rows } = await vault.list(scope, { offset: 0, limit: PAGE_ROWS });
  for (const { name, hosts, fingerprint, backend, external, lastReleasedAtMs } of rows) {
    const last = lastReleasedAtMs === null ? 'never used' : `last used ${new Date(lastReleasedAtMs).toISOString()}`;
    const mark = external === null ? (fingerprint ?? 'cannot be opened') : `${backend}:${external}`;
    stdout.write(`${name}  ${hosts?.join(',') ?? 'no host'}  ${mark}  ${last}\n`);
  }
}

async function listReleases(vault: Vault, scope: VaultScope, { stdout }: Io): Promise<void> {
  const { rows } = await vault.releases({ scope, offset: 0, limit: RELEASES_SHOWN });
  for (const { lastAtMs, name, host, caller, verdict, count } of rows)
    stdout.write(`${new Date(lastAtMs).toISOString()}  ${name}  ${verdict} ${count}  ${host}  ${caller}\n`);
}

/** The oldest value first. @returns 1 where one is older than `vault.max_age_days` */
async function checkAges(vault: Vault, scope: VaultScope, { stdout }: Io): Promise<number> {
  const { rows } = await vault.list(scope, { offset: 0, limit: PAGE_ROWS });
  for (const { name, updatedAtMs, isStale, external, lastReleasedAtMs } of rows.toSorted(
    (one, other) => one.updatedAtMs - other.updatedAtMs,
  )) {
    const age =
      external === null
        ? `${Math.floor((systemClock.nowMs() - updatedAtMs) / MS_PER_DAY)} days old`
        : 'its age is known to the back end';
    const last = lastReleasedAtMs === null ? 'never used' : `last used ${new Date(lastReleasedAtMs).toISOString()}`;
    const references = await vault.referencesTo(scope, name);
    const named = references.length === 0 ? 'nothing in the configuration names it' : references.join(', ');
    stdout.write(`${isStale ? 'STALE ' : 'ok    '}  ${name}  ${age}  ${last}  ${named}\n`);
  }
  return rows.some(({ isStale }) => isStale) ? 1 : 0;
}

async function checkReferences(config: Config, { values }: VaultArea, { stdout, env }: Io): Promise<number> {
  const providers = providersFromConfig(config, env, SANDBOX_BASE_URL);
  const reports = await findUnresolved(config, providers, values);
  for (const { path, problem } of reports)
    stdout.write(
      `${problem === undefined ? 'ok    ' : 'FAILED'}  ${path}${problem === undefined ? '' : `: ${problem}`}\n`,
    );
  return reports.some(({ problem }) => problem !== undefined) ? 1 : 0;
}
