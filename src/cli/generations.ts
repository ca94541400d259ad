import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { usdFromNano } from '../lib/money.ts';
import type { Database } from '../store/engine/database.ts';
import { listGenerations, type GenerationFilter } from '../store/generations/generation-list.ts';
import type { GenerationRow } from '../store/generations/columns.ts';
import { CommandError, UsageError, type Io } from './command.ts';
import { waitToShow } from './journal/journals.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { openConfiguredDatabase } from './open-database.ts';

const FLAGS = {
  ...CONFIG_FLAGS,
  hours: { type: 'string' },
  limit: { type: 'string' },
  key: { type: 'string' },
  workspace: { type: 'string' },
  model: { type: 'string' },
  provider: { type: 'string' },
  session: { type: 'string' },
  user: { type: 'string' },
  failed: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

type Flags = ReturnType<typeof parseFlags<typeof FLAGS>>['values'];

const HOURS = 24;
const HOURS_MAX = 24 * 3_660;
const ROWS = 20;
const ROWS_MAX = 10_000;
const MS_PER_HOUR = 3_600_000;

/** `model-gateway generations list|show ID`: records as the store has them, on the store itself. */
export async function runGenerations(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [verb, id, ...operands] = words;
  if (verb !== 'list' && verb !== 'show') throw new UsageError('generations: say what to do: list, or show ID');
  if (verb === 'show' && id === undefined) throw new UsageError('generations show: name the id of a generation');
  const surplus = verb === 'list' ? id : operands[0];
  if (surplus !== undefined) throw new UsageError(`generations ${verb}: ${surplus}: unexpected argument`);
  const filter = readFilter(values);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const database = await openConfiguredDatabase(config, { makes: false });
  try {
    await waitToShow(config, database, io);
    const rows = verb === 'show' ? [await findRow(database, id ?? '')] : await listGenerations(database, filter);
    const format = verb === 'show' ? formatAll : values.json === true ? formatJson : formatLine;
    for (const row of rows) io.stdout.write(`${format(row)}\n`);
  } finally {
    await database.close();
  }
  return 0;
}

function readFilter(values: Flags): GenerationFilter {
  const { key, workspace, model, provider, session, user, failed } = values;
  return {
    sinceMs: Date.now() - readCount('--hours', values.hours, HOURS, HOURS_MAX) * MS_PER_HOUR,
    limit: readCount('--limit', values.limit, ROWS, ROWS_MAX),
    ...(key !== undefined && { keyHash: key }),
    ...(workspace !== undefined && { workspaceId: workspace }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(session !== undefined && { sessionId: session }),
    ...(user !== undefined && { endUserHash: user }),
    ...(failed === true && { failed }),
  };
}

function readCount(flag: string, text: string | undefined, usual: number, most: number): number {
  if (text === undefined) return usual;
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw new UsageError(`${flag}: must be a number from 1 to ${most}, not ${JSON.stringify(text)}`);
}

async function findRow(database: Database, id: string): Promise<GenerationRow> {
  const { createGenerationStore } = await import('../store/generations/generations.ts');
  const row = await createGenerationStore({ database }).find(id);
  if (row === undefined) throw new CommandError(`There is no generation ${id}.`);
  return row;
}

function formatLine(row: GenerationRow): string {
  const cost = row.costNanoUsd === null ? 'unknown' : `$${usdFromNano(row.costNanoUsd).toFixed(6)}`;
  const line = [
    new Date(row.createdAtMs).toISOString(),
    row.id,
    String(row.status),
    `${row.model} at ${row.provider ?? 'no provider'}`,
    `${row.tokensPrompt}+${row.tokensCompletion} tokens`,
    cost,
    `${row.latencyMs} ms`,
    ...(row.errorMessage === null ? [] : [row.errorMessage]),
  ].join('  ');
  // Names and messages come from callers and upstreams; a terminal must not obey them.
  return line.replace(/\p{Cc}/gu, ' ');
}

function formatJson(row: GenerationRow): string {
  return JSON.stringify(row);
}

function formatAll(row: GenerationRow): string {
  return JSON.stringify(row, undefined, 2);
}
