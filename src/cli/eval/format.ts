import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';

export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one: Json) => isJsonObject(one)) : [];
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

const DECIMALS = 3;
const USD_DECIMALS = 6;

function decimal(value: Json | undefined, decimals = DECIMALS): string {
  return typeof value === 'number' ? value.toFixed(decimals) : '-';
}

export function usd(value: Json | undefined): string {
  return typeof value === 'number' ? `$${Number(value.toFixed(USD_DECIMALS))}` : '-';
}

function range(interval: Json | undefined): string {
  return isJsonObject(interval) ? `${decimal(interval['low'])} to ${decimal(interval['high'])}` : 'too little to say';
}

export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** A run as `GET /benchmarks/runs/{id}` has it. The interval comes first where it says more than the mean. */
export function formatRun({ data, results }: JsonObject): string {
  const run = isJsonObject(data) ? data : {};
  const rows = objectsOf(results).map((one) => {
    const isSmall = one['small_sample'] === true;
    const mean = isSmall ? `(${decimal(one['mean'])})` : decimal(one['mean']);
    const latency = isJsonObject(one['latency_ms']) ? `${textOf(one['latency_ms']['p50'])} ms` : '-';
    const verdicts = isJsonObject(one['verdicts']) ? one['verdicts'] : {};
    const unscored = Number(verdicts['upstream_error'] ?? 0) + Number(verdicts['unjudged'] ?? 0);
    return [
      textOf(one['model']),
      range(one['interval']),
      mean,
      textOf(one['items']),
      `${unscored}`,
      usd(one['cost_per_item_usd']),
      latency,
    ];
  });
  const head = `${textOf(run['id'])}  ${textOf(run['dataset'])}  ${textOf(run['state'])}  ${usd(run['spent_usd'])} of ${usd(run['max_cost_usd'])}\n`;
  return head + table([['model', '95 % interval', 'mean', 'items', 'unscored', 'per item', 'median'], ...rows]);
}

export function formatRuns(runs: readonly JsonObject[]): string {
  if (runs.length === 0) return 'No run has been made.\n';
  return table([
    ['id', 'dataset', 'state', 'answers', 'spent', 'models'],
    ...runs.map((run) => [
      textOf(run['id']),
      textOf(run['dataset']),
      run['reason'] === null ? textOf(run['state']) : `${textOf(run['state'])} (${textOf(run['reason'])})`,
      `${textOf(run['units_done'])} of ${textOf(run['units'])}`,
      usd(run['spent_usd']),
      Array.isArray(run['models']) ? run['models'].map((model: Json) => textOf(model)).join(', ') : '',
    ]),
  ]);
}

/** Of b against a. */
export function formatComparisons({ data, differs }: JsonObject): string {
  const names = Array.isArray(differs) ? differs.map((one: Json) => textOf(one)) : [];
  const warning = names.length === 0 ? '' : `The runs differ in their ${names.join(' and ')}: the figures mislead.\n`;
  const lines = objectsOf(data).map((one) => {
    const [a, b] = [one['a'], one['b']].map((side) => textOf(isJsonObject(side) ? side['model'] : undefined));
    const difference = typeof one['difference'] === 'number' ? decimal(one['difference']) : '-';
    const changed = `${textOf(one['gained'])} gained, ${textOf(one['lost'])} lost`;
    return `${b} against ${a}: ${textOf(one['verdict'])}\n  ${difference} (${range(one['interval'])}), p ${decimal(one['p'], 4)}, ${textOf(one['items'])} items, ${changed}\n`;
  });
  return warning + lines.join('');
}
