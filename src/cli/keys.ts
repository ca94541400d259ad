import { createKeys } from '../accounts/keys/keys.ts';
import type { KeyRecord, Keys } from '../accounts/keys/keys.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import type { ParsedFlags } from '../config/flags.ts';
import { systemClock } from '../lib/clock.ts';
import { nanoFromUsd, usdFromNano } from '../lib/money.ts';
import { LIMIT_USD_MAX } from '../resources/shapes.ts';
import { createKeyStore } from '../store/accounts/keys.ts';
import { openAuditTrail, type RecordChange } from './audit/audit-trail.ts';
import { CommandError, unknownVerb, UsageError } from './command.ts';
import type { Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { openConfiguredDatabase } from './open-database.ts';

const FLAGS = {
  ...CONFIG_FLAGS,
  name: { type: 'string' },
  management: { type: 'boolean' },
  limit: { type: 'string' },
  cascade: { type: 'boolean' },
  'limit-reset': { type: 'string' },
} as const;

const VERBS = ['create', 'list', 'disable', 'enable', 'delete'] as const;
type Verb = (typeof VERBS)[number];

const LIMIT_RESETS = ['daily', 'weekly', 'monthly'] as const;
type LimitReset = (typeof LIMIT_RESETS)[number];

const DEFAULT_NAME = 'Made on the command line';
const PAGE_KEYS = 100;
/** Where listing and looking up end. */
const KEYS_MAX = 10_000;
const HASH_START_CHARS_MIN = 8;
const HASH_SHOWN_CHARS = 12;

/** `model-gateway keys`: works on the store itself; a running gateway sees the change within seconds. */
export async function runKeys(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [word, ...operands] = words;
  const verb = readVerb(word);
  checkOperands(verb, operands, values);
  // Before the database, which a command that is refused must not make.
  const draft = readDraft(values);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const database = await openConfiguredDatabase(config, { makes: verb === 'create' });
  try {
    const keys = createKeys({ store: createKeyStore({ database }), clock: systemClock });
    const recordChange = openAuditTrail(database, io);
    if (verb === 'create') await createKey(keys, draft, recordChange, io);
    else if (verb === 'list') await listKeys(keys, io);
    else await changeKey(keys, verb, operands[0] ?? '', values.cascade === true, recordChange, io);
  } finally {
    await database.close();
  }
  return 0;
}

type FlagValues = ParsedFlags<typeof FLAGS>['values'];

function readVerb(word: string | undefined): Verb {
  const verb = VERBS.find((known) => known === word);
  if (verb !== undefined) return verb;
  throw unknownVerb('keys', word, VERBS);
}

function checkOperands(verb: Verb, operands: readonly string[], values: FlagValues): void {
  const wanted = verb === 'create' || verb === 'list' ? 0 : 1;
  if (operands.length < wanted) throw new UsageError(`keys ${verb}: name a key by its hash or label`);
  if (operands.length > wanted) throw new UsageError(`keys ${verb}: ${operands[wanted]}: unexpected argument`);
  const creates = verb === 'create';
  if (!creates && (values.name ?? values.limit ?? values['limit-reset'] ?? values.management) !== undefined)
    throw new UsageError(`keys ${verb}: --name, --limit, --limit-reset and --management belong to "keys create"`);
  if (values.cascade === true && verb !== 'delete' && verb !== 'disable')
    throw new UsageError(`keys ${verb}: --cascade belongs to "keys delete" and "keys disable"`);
  if (values.management === true && values.limit !== undefined)
    throw new UsageError('keys create: a management key spends nothing, so --limit means nothing with --management');
  if (values['limit-reset'] !== undefined && values.limit === undefined)
    throw new UsageError('keys create: --limit-reset says when the limit starts again, so it needs --limit');
}

type KeyDraft = Parameters<Keys['create']>[0];

function readDraft(values: FlagValues): KeyDraft {
  return {
    name: values.name ?? DEFAULT_NAME,
    kind: values.management === true ? 'management' : 'normal',
    limitNanoUsd: values.limit === undefined ? null : readLimit(values.limit),
    limitReset: readReset(values['limit-reset']),
  };
}

async function createKey(keys: Keys, draft: KeyDraft, recordChange: RecordChange, io: Io): Promise<void> {
  const { key, record } = await keys.create(draft);
  const limit = record.limitNanoUsd === null ? null : usdFromNano(record.limitNanoUsd);
  await recordChange('createKey', `/keys/${record.hash}`, {
    name: record.name,
    kind: record.kind,
    limit,
    limit_reset: record.limitReset,
  });
  // The key stands alone on standard output, for `KEY=$(model-gateway keys create)`.
  io.stdout.write(`${key}\n`);
  const kind = record.kind === 'management' ? 'management key' : 'key';
  io.stderr.write(
    `Made the ${kind} "${record.name}" (${record.hash.slice(0, HASH_SHOWN_CHARS)}). It is not shown again.\n`,
  );
}

function readLimit(text: string): number {
  const usd = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (usd <= LIMIT_USD_MAX) return nanoFromUsd(usd);
  throw new UsageError(`--limit: must be an amount in USD from 0 to ${LIMIT_USD_MAX}, not ${JSON.stringify(text)}`);
}

function readReset(text: string | undefined): LimitReset | null {
  if (text === undefined) return null;
  const reset = LIMIT_RESETS.find((known) => known === text);
  if (reset !== undefined) return reset;
  throw new UsageError(`--limit-reset: must be ${LIMIT_RESETS.join(', ')}, not ${JSON.stringify(text)}`);
}

async function listKeys(keys: Keys, io: Io): Promise<void> {
  const rows = (await readAll(keys)).map((record) => [
    record.hash.slice(0, HASH_SHOWN_CHARS),
    record.label,
    record.kind,
    stateOf(record),
    formatLimit(record),
    // A name may hold anything; a terminal must not obey it.
    record.name.replace(/\p{Cc}/gu, ' '),
  ]);
  const table = [['HASH', 'LABEL', 'KIND', 'STATE', 'LIMIT', 'NAME'], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of table)
    io.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
}

function formatLimit({ limitNanoUsd, limitReset }: KeyRecord): string {
  if (limitNanoUsd === null) return '-';
  return `${usdFromNano(limitNanoUsd)} USD${limitReset === null ? '' : ` ${limitReset}`}`;
}

function stateOf(record: KeyRecord): string {
  if (record.disabled) return 'disabled';
  return record.expiresAtMs !== null && record.expiresAtMs <= systemClock.nowMs() ? 'expired' : 'enabled';
}

async function changeKey(
  keys: Keys,
  verb: 'disable' | 'enable' | 'delete',
  wanted: string,
  cascades: boolean,
  recordChange: RecordChange,
  io: Io,
): Promise<void> {
  const { hash, label } = await findKey(keys, wanted);
  const issued = await applyChange(keys, verb, hash, cascades);
  const action = verb === 'delete' ? 'deleteKey' : 'updateKey';
  const changes = verb === 'delete' ? {} : { disabled: verb === 'disable' };
  await recordChange(action, `/keys/${hash}`, changes);
  for (const each of issued) await recordChange(action, `/keys/${each}`, { ...changes, cascade_from: hash });
  const done = { delete: 'Deleted', disable: 'Disabled', enable: 'Enabled' }[verb];
  const others = cascades ? ` and ${issued.length} keys that it issued` : '';
  io.stdout.write(`${done} ${label} (${hash.slice(0, HASH_SHOWN_CHARS)})${others}.\n`);
}

/** Returns the hashes of the issued keys that changed too. */
async function applyChange(
  keys: Keys,
  verb: 'disable' | 'enable' | 'delete',
  hash: string,
  cascades: boolean,
): Promise<readonly string[]> {
  if (cascades) return (await (verb === 'delete' ? keys.deleteWithIssued(hash) : keys.disableWithIssued(hash))).issued;
  if (verb === 'delete') await keys.delete(hash);
  else await keys.update(hash, { disabled: verb === 'disable' });
  return [];
}

async function findKey(keys: Keys, wanted: string): Promise<KeyRecord> {
  const isHashStart = wanted.length >= HASH_START_CHARS_MIN && /^[0-9a-f]+$/.test(wanted);
  const found = (await readAll(keys)).filter(
    ({ hash, label }) => label === wanted || (isHashStart && hash.startsWith(wanted)),
  );
  const [record] = found;
  if (record === undefined)
    throw new CommandError(`There is no key ${JSON.stringify(wanted)}. "keys list" lists all keys.`);
  if (found.length > 1)
    throw new CommandError(`${JSON.stringify(wanted)} fits ${found.length} keys. Give more of the hash.`);
  return record;
}

async function readAll(keys: Keys): Promise<readonly KeyRecord[]> {
  const all: KeyRecord[] = [];
  while (all.length < KEYS_MAX) {
    const page = await keys.list({ includeDisabled: true, offset: all.length, limit: PAGE_KEYS });
    all.push(...page);
    if (page.length < PAGE_KEYS) break;
  }
  return all;
}
