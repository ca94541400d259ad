import type { Cost } from './costs/codec-cost.ts';
import type { PluginCosts } from './costs/plugin-cost.ts';
import type { FusionResult } from './fusion.ts';
import type { RouterCosts } from './costs/router-cost.ts';
import type { RoutingResult } from './costs/routing-cost.ts';
import type { DocumentCosts } from './costs/document-cost.ts';
import type { GuardrailCosts } from './costs/content-filter-cost.ts';
import type { Goal } from './goals.ts';
import type { HostileResult } from './hostile.ts';
import type { Row, SettingResult } from './measure.ts';
import type { PacedResult } from './paced.ts';
import type { PathCost } from './costs/path-cost.ts';
import type { Peak } from './process-stats.ts';
import { median } from './statistics.ts';

/** From here on the core of the mock and the generator counts as full, and the row as a lower bound. */
const FULL_CORE = 0.93;
const SATURATING_CONNECTIONS = 64;
const OWN_CORE = 0.85;

/** A table that is read as Markdown as well as in a terminal. First column left, the others right. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const format = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [format(header), rule, ...rows.map(format)].join('\n');
}

export function formatWhole(result: SettingResult): string {
  return formatSetting(
    result,
    [
      'req/s',
      'of (a)',
      'p50 us',
      'p99 us',
      'p99.9 us',
      'added p50',
      'added p99',
      'added p99.9',
      'CPU us/req',
      'of (a) by CPU',
    ],
    (row) => [
      round(row.perS),
      ratio(row.ratio),
      round(row.p50Us),
      round(row.p99Us),
      round(row.p999Us),
      ...(row.variant === 'direct' || row.variant === 'json'
        ? ['', '', '']
        : [round(row.addedP50Us), round(row.addedP99Us), round(row.addedP999Us)]),
      row.variant === 'direct' ? '' : round(row.cpuUs, 1),
      row.variant === 'direct' ? '' : round(row.cpuRatio, 2),
    ],
  );
}

export function formatStream(result: SettingResult): string {
  const titles = [
    'events/s',
    'of (b)',
    'first event p50 us',
    'added p50',
    'added p99',
    'CPU us/event',
    'of (b) by CPU',
  ];
  return formatSetting(result, titles, (row) => [
    round(row.perS),
    ratio(row.ratio),
    round(row.firstFrameP50Us),
    ...(row.variant === 'direct' || row.variant === 'pipe'
      ? ['', '']
      : [round(row.addedFirstFrameP50Us), round(row.addedFirstFrameP99Us)]),
    row.variant === 'direct' ? '' : round(row.cpuUs, 2),
    row.variant === 'direct' ? '' : round(row.cpuRatio, 2),
  ]);
}

export function formatViewers(result: SettingResult): string {
  const titles = ['req/s', 'of no view', 'p50 us', 'p99 us', 'added p99', 'CPU us/req', 'of no view by CPU'];
  return formatSetting(result, titles, (row) => [
    round(row.perS),
    ratio(row.ratio),
    round(row.p50Us),
    round(row.p99Us),
    row.variant === result.setting.baseline ? '' : round(row.addedP99Us),
    round(row.cpuUs, 1),
    ratio(row.cpuRatio ?? Number.NaN),
  ]);
}

export function formatAccounts(result: SettingResult): string {
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
  return formatSetting(result, titles, (row) => [
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

function formatSetting(
  { setting, rows }: SettingResult,
  titles: readonly string[],
  formatRow: (row: Row) => readonly string[],
): string {
  const hasPeer = rows.some(({ ofPeer }) => ofPeer !== undefined);
  const table = formatTable(
    [setting.label, ...titles, ...(hasPeer ? ['of (d)', 'p99 of (d)'] : []), 'its core', "generator's core", 'bad'],
    rows.map((row) => [
      row.label,
      ...formatRow(row),
      ...(hasPeer ? formatOfPeer(row) : []),
      ...formatCores(row),
      String(row.bad),
    ]),
  );
  const faults = rows.flatMap((row) => (row.firstFault === undefined ? [] : [`  ${row.label}: ${row.firstFault}`]));
  return [table, ...faults].join('\n');
}

function formatOfPeer({ variant, ofPeer }: Row): readonly string[] {
  return variant === 'direct' || ofPeer === undefined ? ['', ''] : [ratio(ofPeer.perS), ratio(ofPeer.p99)];
}

function formatCores(row: Row): readonly string[] {
  const mark = row.variant !== 'direct' && (row.generatorCores ?? 0) >= FULL_CORE ? ' !' : '';
  return [row.variant === 'direct' ? '' : round(row.serverCores, 2), round(row.generatorCores, 2) + mark];
}

export function formatPaced(results: readonly PacedResult[]): string {
  return formatTable(
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

export function formatCodecs(costs: readonly Cost[]): string {
  return formatTable(
    ['codecs alone, no socket', 'CPU us', 'heap bytes', 'each'],
    costs.map(({ what, us, bytes, unit }) => [what, round(us, 2), round(bytes), unit]),
  );
}

export function formatRouting({ costs }: RoutingResult): string {
  return formatTable(
    ['without a socket', 'CPU us'],
    costs.map(({ what, us }) => [what, round(us, 1)]),
  );
}

export function formatRouters(costs: RouterCosts): string {
  return formatTable(
    ['routers, without a socket', 'CPU us'],
    costs.map(({ what, us }) => [what, round(us, 1)]),
  );
}

export function formatPlugins(costs: PluginCosts): string {
  return formatTable(
    ['plugins, without a socket', 'CPU us', 'us a KB'],
    costs.map(({ what, us, kb }) => [what, round(us, 1), kb === undefined ? '' : round(us / kb, 1)]),
  );
}

export function formatGuardrails(costs: GuardrailCosts): string {
  return formatTable(
    ['filters, without a socket', 'ms', 'CPU ms', 'longest block, ms'],
    costs.map(({ what, ms, cpuMs, blockMs }) => [what, round(ms, 2), round(cpuMs, 2), round(blockMs, 2)]),
  );
}

export function formatFusion(results: readonly FusionResult[]): string {
  return formatTable(
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

export function formatDocuments(costs: DocumentCosts): string {
  return formatTable(
    ['reading PDFs here', 'pages a second', 'longest block, ms'],
    costs.map(({ what, pagesPerS, blockMs }) => [what, round(pagesPerS), round(blockMs, 1)]),
  );
}

export function formatPath(costs: readonly PathCost[]): string {
  const sums = formatTable(
    ['one plain request', 'functions', 'files', 'calls', 'promises', 'KB allocated', 'CPU us'],
    costs.map((cost) => [
      cost.path,
      String(cost.functions),
      String(cost.files),
      String(cost.calls),
      String(cost.promises),
      cost.measured === undefined ? '' : (cost.measured.bytes / 1_000).toFixed(1),
      cost.measured === undefined ? '' : String(cost.measured.cpuUs),
    ]),
  );
  return [sums, ...costs.map(formatPathPlaces)].join('\n\n');
}

function formatPathPlaces(cost: PathCost): string {
  const folders = formatTable(
    [`functions by folder, ${cost.path}`, 'functions', 'files'],
    cost.folders.map((row) => [`src/${row.folder}`, String(row.functions), String(row.files)]),
  );
  const places = [
    ['calls', cost.mostCalled],
    ['promises', cost.mostPromises],
    ['bytes', cost.measured?.places ?? []],
  ] as const;
  const lists = places.map(([what, most]) =>
    formatTable(
      [`most ${what}, ${cost.path}`, what],
      most.map(({ place, count }) => [place, String(count)]),
    ),
  );
  return [folders, ...lists].join('\n\n');
}

export function formatHostile(results: readonly HostileResult[]): string {
  return formatTable(
    [
      'another caller beside hostile load, ms',
      'p99 without',
      'p99',
      'longest wait of the event loop without',
      'with',
      'the gateway: % of a core',
      'peak MB',
      'requests',
      'bad',
    ],
    results.map(({ attack, quietP99Ms, p99Ms, quietGapMs, gapMs, cpuShare, peakMb, requests, bad }) => [
      attack,
      round(quietP99Ms),
      round(p99Ms),
      round(quietGapMs),
      round(gapMs),
      round(100 * cpuShare),
      round(peakMb),
      String(requests),
      String(bad),
    ]),
  );
}

export function formatGoals(goals: readonly Goal[]): string {
  const table = formatTable(
    ['goal', 'measured', ''],
    goals.map((goal) => [goal.promise, goal.measured, goal.met ? 'pass' : 'MISS']),
  );
  const met = goals.filter((goal) => goal.met).length;
  return `${table}\n${met} of ${goals.length} goals are met, ${goals.length - met} are missed.`;
}

export function formatPeaks(peaks: readonly Peak[]): string {
  const suites = [...new Set(peaks.map((peak) => peak.suite))];
  const servers = [...new Set(peaks.map((peak) => peak.server))];
  const find = (server: string, suite: string): string =>
    round(peaks.find((peak) => peak.server === server && peak.suite === suite)?.peakMiB);
  return formatTable(
    ['peak memory, MiB', ...suites],
    servers.map((server) => [server, ...suites.map((suite) => find(server, suite))]),
  );
}

/** A warning when the measured processes did not have their core to themselves; undefined when they did, or when that is unknown. */
export function formatWarning(results: readonly SettingResult[]): string | undefined {
  const cores = results
    .filter(({ setting }) => setting.load.kind === 'closed' && setting.load.connections >= SATURATING_CONNECTIONS)
    .flatMap(({ rows }) => rows.filter((row) => row.variant !== 'direct' && (row.generatorCores ?? 1) < FULL_CORE))
    .flatMap((row) => row.serverCores ?? []);
  const typical = median(cores);
  if (!(typical < OWN_CORE)) return undefined;
  return `The measured processes had ${round(typical, 2)} of their core under full load: something else ran there. Trust the columns "by CPU", or measure again.`;
}

/** `12,345`, `0.42`, or `-` for what could not be measured. */
export function round(value: number | undefined, digits = 0): string {
  if (value === undefined || !Number.isFinite(value)) return '-';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function ratio(value: number): string {
  return round(value, 2);
}
