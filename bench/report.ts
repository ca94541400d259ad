import type { Cost } from './codec-cost.ts';
import type { PluginCosts } from './plugin-cost.ts';
import type { FusionResult } from './fusion.ts';
import type { RouterCosts } from './router-cost.ts';
import type { RoutingResult } from './routing-cost.ts';
import type { DocumentCosts } from './document-cost.ts';
import type { GuardrailCosts } from './guardrail-cost.ts';
import type { Goal } from './goals.ts';
import type { Row, SettingResult } from './measure.ts';
import type { PacedResult } from './paced.ts';
import { median } from './statistics.ts';

/** From here on the core of the mock and the generator counts as full, and the row as a lower bound. */
const FULL_CORE = 0.93;
const SATURATING_CONNECTIONS = 64;
const OWN_CORE = 0.85;

/** A table that is read as Markdown as well as in a terminal. First column left, the others right. */
export function drawTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const draw = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [draw(header), rule, ...rows.map(draw)].join('\n');
}

export function drawWhole(result: SettingResult): string {
  return drawSetting(
    result,
    ['req/s', 'of (a)', 'p50 us', 'p99 us', 'added p50', 'added p99', 'CPU us/req', 'of (a) by CPU'],
    (row) => [
      round(row.perS),
      ratio(row.ratio),
      round(row.p50Us),
      round(row.p99Us),
      row.variant === 'direct' ? '' : round(row.addedP50Us),
      row.variant === 'direct' ? '' : round(row.addedP99Us),
      row.variant === 'direct' ? '' : round(row.cpuUs, 1),
      row.variant === 'direct' ? '' : round(row.cpuRatio, 2),
    ],
  );
}

export function drawStream(result: SettingResult): string {
  const titles = [
    'events/s',
    'of (b)',
    'first event p50 us',
    'added p50',
    'added p99',
    'CPU us/event',
    'of (b) by CPU',
  ];
  return drawSetting(result, titles, (row) => [
    round(row.perS),
    ratio(row.ratio),
    round(row.firstFrameP50Us),
    row.variant === 'direct' ? '' : round(row.addedFirstFrameP50Us),
    row.variant === 'direct' ? '' : round(row.addedFirstFrameP99Us),
    row.variant === 'direct' ? '' : round(row.cpuUs, 2),
    row.variant === 'direct' ? '' : round(row.cpuRatio, 2),
  ]);
}

export function drawAccounts(result: SettingResult): string {
  const { load } = result.setting;
  const titles = [
    'req/s',
    'of off',
    'p50 us',
    'p99 us',
    'added p50',
    'added p99',
    'CPU us/req',
    'of off by CPU',
    'loop p99 ms',
    'added',
  ];
  return drawSetting(result, titles, (row) => [
    round(row.perS),
    load.kind === 'open' ? '' : ratio(row.ratio),
    round(row.p50Us),
    round(row.p99Us),
    ...(row.variant === 'direct' || row.variant === 'off' ? ['', ''] : [round(row.addedP50Us), round(row.addedP99Us)]),
    ...(row.variant === 'direct'
      ? ['', '', '', '']
      : [
          round(row.cpuUs, 1),
          ratio(row.cpuRatio ?? Number.NaN),
          round(row.loopP99Ms, 1),
          round(row.addedLoopP99Ms, 1),
        ]),
  ]);
}

function drawSetting(
  { setting, rows }: SettingResult,
  titles: readonly string[],
  drawRow: (row: Row) => readonly string[],
): string {
  const table = drawTable(
    [setting.label, ...titles, 'its core', "generator's core", 'bad'],
    rows.map((row) => [row.label, ...drawRow(row), ...drawCores(row), String(row.bad)]),
  );
  const faults = rows.flatMap((row) => (row.firstFault === undefined ? [] : [`  ${row.label}: ${row.firstFault}`]));
  return [table, ...faults].join('\n');
}

function drawCores(row: Row): readonly string[] {
  const mark = row.variant !== 'direct' && (row.generatorCores ?? 0) >= FULL_CORE ? ' !' : '';
  return [row.variant === 'direct' ? '' : round(row.serverCores, 2), round(row.generatorCores, 2) + mark];
}

export function drawPaced(results: readonly PacedResult[]): string {
  return drawTable(
    [
      'paced streams, an event every 20 ms',
      'streams',
      'stalls',
      'gap p99 ms',
      'gap max ms',
      'first event p50 ms',
      'its core',
      "generator's core",
      'bad',
      '',
    ],
    results.map(({ label, streams, load, cpu, passed, variant }) => [
      label,
      String(streams),
      String(load.stalls),
      round(load.gapMs.p99, 1),
      round(load.gapMs.max, 1),
      round(load.firstFrameUs.p50 / 1000, 2),
      variant === 'direct' ? '' : round(cpu.serverCores, 2),
      round(cpu.generatorCores, 2),
      String(load.bad),
      passed ? 'pass' : (load.firstFault ?? 'stalled'),
    ]),
  );
}

export function drawCodecs(costs: readonly Cost[]): string {
  return drawTable(
    ['codecs alone, no socket', 'CPU us', 'heap bytes', 'each'],
    costs.map(({ what, us, bytes, unit }) => [what, round(us, 2), round(bytes), unit]),
  );
}

export function drawRouting({ costs }: RoutingResult): string {
  return drawTable(
    ['without a socket', 'CPU us'],
    costs.map(({ what, us }) => [what, round(us, 1)]),
  );
}

export function drawRouters(costs: RouterCosts): string {
  return drawTable(
    ['routers, without a socket', 'CPU us'],
    costs.map(({ what, us }) => [what, round(us, 1)]),
  );
}

export function drawPlugins(costs: PluginCosts): string {
  return drawTable(
    ['plugins, without a socket', 'CPU us', 'us a KB'],
    costs.map(({ what, us, kb }) => [what, round(us, 1), kb === undefined ? '' : round(us / kb, 1)]),
  );
}

export function drawGuardrails(costs: GuardrailCosts): string {
  return drawTable(
    ['filters, without a socket', 'ms', 'CPU ms', 'longest block, ms'],
    costs.map(({ what, ms, cpuMs, blockMs }) => [what, round(ms, 2), round(cpuMs, 2), round(blockMs, 2)]),
  );
}

export function drawFusion(results: readonly FusionResult[]): string {
  return drawTable(
    ['fusion, ms', 'whole request', 'slowest member', 'analyst', 'around them', 'beyond the same calls alone'],
    results.map(({ members, wholeMs, slowestMs, analystMs, aroundMs, beyondMs }) => [
      `${members} members`,
      round(wholeMs, 1),
      round(slowestMs, 1),
      round(analystMs, 1),
      round(aroundMs, 2),
      round(beyondMs, 1),
    ]),
  );
}

export function drawDocuments(costs: DocumentCosts): string {
  return drawTable(
    ['reading PDFs here', 'pages a second', 'longest block, ms'],
    costs.map(({ what, pagesPerS, blockMs }) => [what, round(pagesPerS), round(blockMs, 1)]),
  );
}

export function drawGoals(goals: readonly Goal[]): string {
  return drawTable(
    ['goal', 'measured', ''],
    goals.map((goal) => [goal.promise, goal.measured, goal.met ? 'pass' : 'MISS']),
  );
}

export interface Peak {
  readonly server: string;
  readonly suite: string;
  readonly peakMiB: number | undefined;
}

export function drawPeaks(peaks: readonly Peak[]): string {
  const suites = [...new Set(peaks.map((peak) => peak.suite))];
  const servers = [...new Set(peaks.map((peak) => peak.server))];
  const find = (server: string, suite: string): string =>
    round(peaks.find((peak) => peak.server === server && peak.suite === suite)?.peakMiB);
  return drawTable(
    ['peak memory, MiB', ...suites],
    servers.map((server) => [server, ...suites.map((suite) => find(server, suite))]),
  );
}

/** Tells when the measured processes did not have their core to themselves; undefined when they did, or nobody knows. */
export function drawWarning(results: readonly SettingResult[]): string | undefined {
  const cores = results
    .filter(({ setting }) => setting.load.kind === 'closed' && setting.load.connections >= SATURATING_CONNECTIONS)
    .flatMap(({ rows }) => rows.filter((row) => row.variant !== 'direct' && (row.generatorCores ?? 1) < FULL_CORE))
    .flatMap((row) => row.serverCores ?? []);
  const typical = median(cores);
  if (!(typical < OWN_CORE)) return undefined;
  return `The measured processes had ${round(typical, 2)} of their core under full load: something else ran there. Trust the columns "by CPU", or measure again.`;
}

/** `12,345`, `0.42`, or `-` for what could not be measured. */
function round(value: number | undefined, digits = 0): string {
  if (value === undefined || !Number.isFinite(value)) return '-';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function ratio(value: number): string {
  return round(value, 2);
}
