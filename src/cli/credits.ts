import { createCredits, type CreditEntry, type Credits } from '../accounts/limits/credits.ts';
import { DEFAULT_ACCOUNT_ID } from '../accounts/principal.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import type { ParsedFlags } from '../config/flags.ts';
import { systemClock } from '../lib/clock.ts';
import { exactUsd, parseExactUsd } from '../lib/money.ts';
import type { Database } from '../store/engine/database.ts';
import { createLedgerStore, type EntryResult } from '../store/usage/ledger.ts';
import { openAuditTrail } from './audit/audit-trail.ts';
import { CommandError, unknownVerb, UsageError } from './command.ts';
import type { Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { nameDamaged, waitForJournals, waitToShow } from './journal/journals.ts';
import { openConfiguredDatabase } from './open-database.ts';
import { asOperatorError } from './operator-error.ts';
import type { Difference } from '../store/usage/verify-ledger.ts';

const FLAGS = {
  ...CONFIG_FLAGS,
  note: { type: 'string' },
  id: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type FlagValues = ParsedFlags<typeof FLAGS>['values'];

/** What each takes: the names of its words, the last of them optional where it ends in a question mark. */
const OPERANDS = {
  balance: [],
  grant: ['AMOUNT'],
  adjust: ['AMOUNT'],
  refund: ['GENERATION', 'AMOUNT?'],
  entries: [],
  verify: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type Verb = keyof typeof OPERANDS;
const VERBS = ['balance', 'grant', 'adjust', 'refund', 'entries', 'verify'] as const satisfies readonly Verb[];
const CHANGES: readonly Verb[] = ['grant', 'adjust', 'refund'];

const ACCOUNT = DEFAULT_ACCOUNT_ID;
const AUTHOR = 'cli';
const ENTRIES = 20;
const ENTRIES_MAX = 10_000;

/** `model-gateway credits`: works on the store itself, also while a gateway runs on it. */
export async function runCredits(args: readonly string[], io: Io): Promise<number> {
  // A minus is a sign here, and no flag.
  const negative = args.find((arg) => /^-\d/.test(arg));
  const { values, words } = parseFlags(
    args.filter((arg) => arg !== negative),
    FLAGS,
  );
  const [word, ...rest] = words;
  const verb = readVerb(word);
  const operands = negative === undefined ? rest : [...rest, negative];
  checkUsage(verb, operands, values);
  const limit = readLimit(values.limit);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const database = await openConfiguredDatabase(config, { makes: false });
  try {
    if (verb === 'verify') {
      const { sentences: unstored } = await waitForJournals(config, database);
      return await verify(database, [...unstored, ...(await nameDamaged(config))], io);
    }
    await waitToShow(config, database, io);
    const credits = createCredits({
      store: createLedgerStore({ database }),
      clock: systemClock,
      // A running gateway reads a balance again within a minute.
      onChange: () => undefined,
    });
    if (verb === 'balance') await printBalance(credits, io);
    else if (verb === 'entries') await listEntries(credits, limit, values.json === true, io);
    else {
      const { entry, isNew } = await change(credits, verb, operands, values);
      if (isNew) {
        const amount = exactUsd(entry.amountNanoUsd);
        await openAuditTrail(database, io)(`credits ${verb}`, `/credits/${entry.id}`, { amount });
      } else io.stdout.write(`Entered before, at ${new Date(entry.atMs).toISOString()}: nothing has changed.\n`);
      await printBalance(credits, io);
    }
    return 0;
  } catch (error) {
    throw error instanceof GatewayError ? new CommandError(error.message, { cause: error }) : asOperatorError(error);
  } finally {
    await database.close();
  }
}

function readVerb(word: string | undefined): Verb {
  const verb = VERBS.find((known) => known === word);
  if (verb !== undefined) return verb;
  throw unknownVerb('credits', word, VERBS);
}

function checkUsage(verb: Verb, operands: readonly string[], { note, id, limit, json }: FlagValues): void {
  const wanted: readonly string[] = OPERANDS[verb];
  const missing = wanted[operands.length];
  if (missing !== undefined && !missing.endsWith('?')) throw new UsageError(`credits ${verb}: say the ${missing}`);
  const surplus = operands[wanted.length];
  if (surplus !== undefined) throw new UsageError(`credits ${verb}: ${surplus}: unexpected argument`);
  const isChange = CHANGES.includes(verb);
  if (isChange && note === undefined) throw new UsageError(`credits ${verb}: say why, with --note TEXT`);
  const surplusFlag = note !== undefined ? '--note' : id !== undefined ? '--id' : undefined;
  if (!isChange && surplusFlag !== undefined)
    throw new UsageError(`credits ${verb}: ${surplusFlag} belongs to ${CHANGES.join(', ')}`);
  if (verb !== 'entries' && (limit !== undefined || json !== undefined))
    throw new UsageError(`credits ${verb}: --limit and --json belong to "credits entries"`);
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return ENTRIES;
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= ENTRIES_MAX) return count;
  throw new UsageError(`--limit: must be a number from 1 to ${ENTRIES_MAX}, not ${JSON.stringify(text)}`);
}

function change(
  credits: Credits,
  verb: 'grant' | 'adjust' | 'refund',
  operands: readonly string[],
  { note = '', id }: FlagValues,
): Promise<EntryResult> {
  const reason = { accountId: ACCOUNT, author: AUTHOR, note, ...(id !== undefined && { idempotencyKey: id }) };
  const [first = '', second] = operands;
  if (verb === 'grant') return credits.grant({ ...reason, amountNanoUsd: readAmount(first) });
  if (verb === 'adjust') return credits.adjust({ ...reason, amountNanoUsd: readAmount(first) });
  return credits.refund({
    ...reason,
    generationId: first,
    ...(second !== undefined && { amountNanoUsd: readAmount(second) }),
  });
}

function readAmount(text: string): number {
  const nanoUsd = parseExactUsd(text);
  if (nanoUsd !== undefined) return nanoUsd;
  throw new UsageError(`${text}: is no amount in USD, such as 12.50, in steps of 0.000000001`);
}

async function printBalance(credits: Credits, io: Io): Promise<void> {
  const { credits: given, usage } = await credits.totals(ACCOUNT);
  io.stdout.write(`${exactUsd(given - usage)} USD (${exactUsd(given)} given, ${exactUsd(usage)} used)\n`);
}

async function listEntries(credits: Credits, limit: number, asJson: boolean, io: Io): Promise<void> {
  const { rows } = await credits.entries({ accountId: ACCOUNT, offset: 0, limit });
  for (const entry of rows) io.stdout.write(`${asJson ? formatJson(entry) : formatLine(entry)}\n`);
}

function formatLine({ atMs, kind, amountNanoUsd, generationId, note, author }: CreditEntry): string {
  const line = [new Date(atMs).toISOString(), kind, `${exactUsd(amountNanoUsd)} USD`, generationId, author, note];
  // A note may hold anything; a terminal must not obey it.
  return line
    .filter((cell) => cell !== null)
    .join('  ')
    .replace(/\p{Cc}/gu, ' ');
}

function formatJson(entry: CreditEntry): string {
  const { id, atMs, kind, amountNanoUsd, generationId, keyHash, workspaceId, note, author } = entry;
  return JSON.stringify({
    id,
    created_at: new Date(atMs).toISOString(),
    kind,
    amount: exactUsd(amountNanoUsd),
    generation_id: generationId,
    key_hash: keyHash,
    workspace_id: workspaceId,
    note,
    author,
  });
}

/** Exits 1 when the books do not agree. */
async function verify(database: Database, unstored: readonly string[], io: Io): Promise<number> {
  for (const sentence of unstored) io.stdout.write(`${sentence}\n`);
  const { differences } = await createLedgerStore({ database }).verify(ACCOUNT);
  for (const difference of differences) io.stdout.write(`${formatDifference(difference)}\n`);
  if (differences.length === 0) io.stdout.write('Generations, entries, sums and balance agree.\n');
  return differences.length === 0 && unstored.length === 0 ? 0 : 1;
}

type Format = (of: string, expected: number, found: number) => string;

const DIFFERENCE_TEXTS: Readonly<Record<Difference['what'], Format>> = {
  charge: (of, expected, found) => `${of} cost ${exactUsd(expected)} USD and was charged ${exactUsd(found)} USD.`,
  spend: (of, expected, found) =>
    `${of} spent ${exactUsd(expected)} USD by its generations and ${exactUsd(found)} USD by its sum.`,
  requests: (of, expected, found) => `${of} has ${expected} generations that count and ${found} in its sum.`,
  balance: (of, expected, found) =>
    `${of} used ${exactUsd(expected)} USD by its entries and ${exactUsd(found)} USD by its balance.`,
};

/** One line of `credits verify`. */
function formatDifference({ what, of, expected, found }: Difference): string {
  return DIFFERENCE_TEXTS[what](of, expected, found);
}
