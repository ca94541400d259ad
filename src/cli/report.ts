import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { usdFromNano } from '../lib/money.ts';
import { sumRouterSavings, type RouterSavings, type SavingsBy } from '../store/usage/router-savings.ts';
import { UsageError, type Io } from './command.ts';
import { waitToShow } from './journal/journals.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { openConfiguredDatabase } from './open-database.ts';

const FLAGS = {
  ...CONFIG_FLAGS,
  days: { type: 'string' },
  by: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const DAYS = 7;
const DAYS_MAX = 3_660;
const MS_PER_DAY = 86_400_000;
const BY: Readonly<Record<string, SavingsBy>> = { router: 'router', model: 'model', task: 'task_type' };

/** `model-gateway report routers`: what routers chose, what it cost, and what it saved against the most capable model. */
export async function runReport(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [what, surplus] = words;
  if (what !== 'routers') throw new UsageError('report: say of what: routers');
  if (surplus !== undefined) throw new UsageError(`report routers: ${surplus}: unexpected argument`);
  const by = BY[values.by ?? 'router'];
  if (by === undefined) throw new UsageError(`--by: must be router, model or task, not ${JSON.stringify(values.by)}`);
  const sinceMs = Date.now() - readDays(values.days) * MS_PER_DAY;
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const database = await openConfiguredDatabase(config, { makes: false });
  try {
    await waitToShow(config, database, io);
    const rows = await sumRouterSavings(database, sinceMs, by);
    if (values.json === true) for (const row of rows) io.stdout.write(`${formatJson(row)}\n`);
    else io.stdout.write(rows.length === 0 ? 'No router chose a model in this time.\n' : formatTable(rows, by));
  } finally {
    await database.close();
  }
  return 0;
}

function readDays(text: string | undefined): number {
  if (text === undefined) return DAYS;
  const days = /^\d+$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= DAYS_MAX) return days;
  throw new UsageError(`--days: must be a number from 1 to ${DAYS_MAX}, not ${JSON.stringify(text)}`);
}

const USD_DECIMALS = 6;

function formatTable(rows: readonly RouterSavings[], by: SavingsBy): string {
  const head = [
    'router',
    ...(by === 'router' ? [] : [by === 'model' ? 'model' : 'task']),
    'requests',
    'compared',
    'cost',
    'saved',
    'saved %',
  ];
  const lines = rows.map((row) => [
    row.router,
    ...(by === 'router' ? [] : [row.of ?? '-']),
    String(row.requests),
    String(row.compared),
    formatUsd(row.costNanoUsd),
    formatUsd(row.savedNanoUsd),
    formatPercent(row),
  ]);
  const widths = head.map((title, at) => Math.max(title.length, ...lines.map((line) => line[at]?.length ?? 0)));
  const names = by === 'router' ? 1 : 2;
  const format = (line: readonly string[]): string =>
    line
      .map((cell, at) => (at < names ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  // Names of models come from callers; a terminal must not obey them.
  return [head, ...lines].map((line) => `${format(line).replace(/\p{Cc}/gu, ' ')}\n`).join('');
}

function formatUsd(nanoUsd: number): string {
  return `${nanoUsd < 0 ? '-' : ''}$${usdFromNano(Math.abs(nanoUsd)).toFixed(USD_DECIMALS)}`;
}

/** Of what the most capable model would have cost. */
function formatPercent({ costNanoUsd, savedNanoUsd }: RouterSavings): string {
  const whole = costNanoUsd + savedNanoUsd;
  return whole <= 0 ? '-' : `${Math.round((100 * savedNanoUsd) / whole)} %`;
}

function formatJson({ router, of, requests, compared, costNanoUsd, savedNanoUsd }: RouterSavings): string {
  const money = { cost_usd: usdFromNano(costNanoUsd), saved_usd: usdFromNano(savedNanoUsd) };
  return JSON.stringify({ router, of, requests, compared, ...money });
}
