// `npm run bench`: the cost of the gateway compared with the thinnest proxies that do the same forwarding.
// bench/README.md explains the figures.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import path from 'node:path';

import { measureAccounts } from './accounts.ts';
import type { Cost } from './costs/codec-cost.ts';
import { measureCodecs } from './costs/codecs.ts';
import { startGateway, type GatewayOptions } from './gateway.ts';
import {
  judgeAccounts,
  judgeDocuments,
  judgeFusion,
  judgeGuardrails,
  judgeHostile,
  judgePaced,
  judgePeaks,
  judgePeer,
  judgePairs,
  judgeRouters,
  judgeRouting,
  judgeStreams,
  judgeViewers,
  judgeWhole,
  type Goal,
} from './goals.ts';
import { measureSettings, type Bench, type SettingResult } from './measure.ts';
import { readOptions, type Options, type Suite } from './options.ts';
import { measurePaced, type PacedResult } from './paced.ts';
import { startPortkey } from './portkey.ts';
import { readPeakMiB, resetPeak, type Peak } from './process-stats.ts';
import { isPinned, startLoadGenerator, startServer, stopAll, type ServerProcess } from './processes.ts';
import { formatMedia, judgeMedia } from './media/judge-media.ts';
import { measureMedia, type MediaResults } from './media/measure-media.ts';
import { profileGateway } from './profile.ts';
import {
  formatAccounts,
  formatCodecs,
  formatDocuments,
  formatFusion,
  formatGoals,
  formatGuardrails,
  formatHostile,
  formatPaced,
  formatPath,
  formatPeaks,
  formatPlugins,
  formatRouters,
  formatRouting,
  formatStream,
  formatViewers,
  formatWarning,
  formatWhole,
} from './report.ts';
import type { DocumentCosts } from './costs/document-cost.ts';
import { measureDocuments } from './costs/documents.ts';
import { measureFusion, type FusionResult } from './fusion.ts';
import type { GuardrailCosts } from './costs/content-filter-cost.ts';
import { measureGuardrails } from './costs/guardrails.ts';
import { measureHostile, type HostileResult } from './hostile.ts';
import { measurePath } from './costs/path.ts';
import type { PathCost } from './costs/path-cost.ts';
import { measurePlugins } from './costs/plugins.ts';
import type { PluginCosts } from './costs/plugin-cost.ts';
import { measureRouters } from './costs/routers.ts';
import type { RouterCosts } from './costs/router-cost.ts';
import { measureRouting } from './costs/routing.ts';
import type { RoutingResult } from './costs/routing-cost.ts';
import { listModels, listPairSettings, listStreamSettings, listWholeSettings, planRun, type Plan } from './suites.ts';
import { GATEWAY_LABEL, listVariants } from './variants.ts';
import { measureViewers } from './viewers.ts';

interface Results {
  readonly environment: Readonly<Record<string, string>>;
  readonly whole: readonly SettingResult[];
  readonly stream: readonly SettingResult[];
  readonly pairs: readonly SettingResult[];
  readonly paced: readonly PacedResult[];
  readonly codecs: readonly Cost[];
  readonly routing: RoutingResult | undefined;
  readonly routers: RouterCosts;
  readonly plugins: PluginCosts;
  readonly guardrails: GuardrailCosts;
  readonly documents: DocumentCosts;
  readonly fusion: readonly FusionResult[];
  readonly accounts: readonly SettingResult[];
  readonly viewers: readonly SettingResult[];
  readonly hostile: readonly HostileResult[];
  readonly path: readonly PathCost[];
  readonly media: MediaResults | undefined;
  readonly peaks: readonly Peak[];
  readonly goals: readonly Goal[];
}

function note(line: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\u001B[2K${line}` : `${line}\n`);
}

async function startMock(directory: string): Promise<ServerProcess> {
  const args = [path.join(import.meta.dirname, 'servers', 'mock-upstream.ts')];
  return startServer({ name: 'mock', args, cpu: 1, directory, hasChannel: true });
}

async function startProxy(mode: 'json' | 'pipe', mock: ServerProcess, directory: string): Promise<ServerProcess> {
  const args = [path.join(import.meta.dirname, 'servers', 'thin-proxy.ts'), mode, `http://${mock.host}:${mock.port}`];
  return startServer({ name: mode, args, cpu: 0, directory, hasChannel: true });
}

async function measure(options: Options, plan: Plan, directory: string): Promise<Results> {
  const mock = await startMock(directory);
  const json = await startProxy('json', mock, directory);
  const pipe = await startProxy('pipe', mock, directory);
  const gateway = options.baselinesOnly
    ? undefined
    : await startGateway({ directory, upstream: mock, models: listModels(plan) });
  const portkey = needsPeer(options) ? await startPortkey(directory, note) : undefined;
  const load = await startLoadGenerator(directory);
  const variants = listVariants({
    mock,
    json,
    pipe,
    ...(gateway !== undefined && { gateway }),
    ...(portkey !== undefined && { portkey }),
  });
  const bench: Bench = { variants, mock, load, note };
  const peaks: Peak[] = [];
  const within = async <Result>(
    suite: Suite,
    baseline: { readonly label: string; readonly server: ServerProcess },
    run: () => Promise<readonly Result[]>,
  ): Promise<readonly Result[]> => {
    if (!options.suites.includes(suite)) return [];
    const watched = [
      baseline,
      ...(gateway === undefined ? [] : [{ label: GATEWAY_LABEL, server: gateway }]),
      ...(portkey === undefined ? [] : [{ label: '(d) Portkey', server: portkey }]),
    ];
    for (const { server } of watched) resetPeak(server.pid);
    const results = await run();
    for (const { label, server } of watched) peaks.push({ server: label, suite, peakMiB: readPeakMiB(server.pid) });
    return results;
  };
  const rounds = { rounds: options.rounds, warmUpLimitMs: plan.warmUpLimitMs };
  const thinJson = { label: '(a) thin proxy, JSON both ways', server: json };
  const thinPipe = { label: '(b) thin proxy, bytes piped', server: pipe };
  const whole = await within('whole', thinJson, async () => measureSettings(bench, listWholeSettings(plan), rounds));
  const stream = await within('stream', thinPipe, async () => measureSettings(bench, listStreamSettings(plan), rounds));
  const pairs = await within('pairs', thinPipe, async () => measureSettings(bench, listPairSettings(plan), rounds));
  const paced = await within('paced', thinPipe, async () => measurePaced(bench, plan));
  await gateway?.stop();
  await portkey?.stop();
  const accounts = await measureAccountsOf(options, plan, { directory, mock, load, note });
  const viewers = await measureViewersOf(options, plan, { directory, mock, load, note });
  const codecs = options.suites.includes('codecs') ? await measureCodecs() : [];
  const routing = options.suites.includes('routing') ? await measureRouting() : undefined;
  const routers = options.suites.includes('routers') ? await measureRouters() : [];
  const plugins = options.suites.includes('plugins') ? await measurePlugins() : [];
  const guardrails = options.suites.includes('guardrails') ? await measureGuardrails() : [];
  const documents = options.suites.includes('documents') ? await measureDocuments() : [];
  const fusion = await measureFusionOf(options, { directory, upstream: mock, models: [] });
  const hostile = await measureHostileOf(options, plan);
  const plainPath = options.suites.includes('path') && !options.baselinesOnly ? await measurePath() : [];
  const media = await measureMediaOf(options, directory);
  const goals = [
    ...judgeWhole(whole),
    ...judgePeer(whole),
    ...judgeStreams(stream),
    ...judgePairs(pairs),
    ...judgePaced(paced),
    ...judgePeaks(peaks),
    ...(routing === undefined ? [] : judgeRouting(routing)),
    ...judgeRouters(routers),
    ...judgeGuardrails(guardrails),
    ...judgeDocuments(documents),
    ...judgeFusion(fusion),
    ...judgeAccounts(accounts.results),
    ...judgeViewers(viewers),
    ...judgeHostile(hostile),
    ...(media === undefined ? [] : judgeMedia(media)),
  ];
  return {
    environment: describeEnvironment(options),
    whole,
    stream,
    pairs,
    paced,
    codecs,
    routing,
    routers,
    plugins,
    guardrails,
    documents,
    fusion,
    accounts: accounts.results,
    viewers,
    hostile,
    path: plainPath,
    media,
    peaks: [...peaks, ...accounts.peaks],
    goals,
  };
}

/** It is part of the suites of whole answers and of streams. */
function needsPeer({ peers, suites }: Options): boolean {
  return peers && (suites.includes('whole') || suites.includes('stream'));
}

async function measureAccountsOf(
  { suites, baselinesOnly, rounds }: Options,
  plan: Plan,
  deps: Parameters<typeof measureAccounts>[0],
): ReturnType<typeof measureAccounts> {
  if (!suites.includes('accounts') || baselinesOnly) return { results: [], peaks: [] };
  return measureAccounts(deps, plan, { rounds, warmUpLimitMs: plan.warmUpLimitMs });
}

async function measureViewersOf(
  { suites, baselinesOnly, rounds }: Options,
  plan: Plan,
  deps: Parameters<typeof measureViewers>[0],
): ReturnType<typeof measureViewers> {
  if (!suites.includes('viewers') || baselinesOnly) return [];
  return measureViewers(deps, plan, { rounds, warmUpLimitMs: plan.warmUpLimitMs });
}

const FUSION_RUNS = { quick: 20, full: 100 };

async function measureFusionOf(
  { suites, baselinesOnly, quick }: Options,
  gateway: GatewayOptions,
): Promise<readonly FusionResult[]> {
  if (!suites.includes('fusion') || baselinesOnly) return [];
  return measureFusion(gateway, { runs: quick ? FUSION_RUNS.quick : FUSION_RUNS.full, note });
}

async function measureHostileOf(
  { suites, baselinesOnly }: Options,
  { quietMs, attackMs }: Plan,
): Promise<readonly HostileResult[]> {
  if (!suites.includes('hostile') || baselinesOnly) return [];
  return measureHostile({ quietMs, attackMs, note });
}

/** Large answers take a second each: a cell lasts as long as it takes to be some of them. */
const MEDIA_CELL_MS = { quick: 700, full: 3_000 };

async function measureMediaOf(
  { suites, baselinesOnly, quick, rounds }: Options,
  directory: string,
): Promise<MediaResults | undefined> {
  if (!suites.includes('media') || baselinesOnly) return undefined;
  return measureMedia({
    directory,
    rounds,
    isQuick: quick,
    cellMs: quick ? MEDIA_CELL_MS.quick : MEDIA_CELL_MS.full,
    note,
  });
}

function describeEnvironment(options: Options): Readonly<Record<string, string>> {
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    cpu: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    kernel: release(),
    pinned: isPinned
      ? 'measured process on cpu 0, mock and load generator on cpu 1'
      : 'no: taskset or a second cpu is missing',
    rounds: String(options.rounds),
    load_average: loadavg()
      .map((load) => load.toFixed(2))
      .join(' '),
  };
}

function print(results: Results): void {
  const warning = formatWarning([
    ...results.whole,
    ...results.stream,
    ...results.pairs,
    ...results.accounts,
    ...results.viewers,
  ]);
  const sections = [
    Object.entries(results.environment)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    ...results.whole.map(formatWhole),
    ...results.stream.map(formatStream),
    ...results.pairs.map(formatStream),
    ...(results.paced.length === 0 ? [] : [formatPaced(results.paced)]),
    ...results.accounts.map(formatAccounts),
    ...results.viewers.map(formatViewers),
    ...(results.codecs.length === 0 ? [] : [formatCodecs(results.codecs)]),
    ...(results.routing === undefined ? [] : [formatRouting(results.routing)]),
    ...(results.routers.length === 0 ? [] : [formatRouters(results.routers)]),
    ...(results.plugins.length === 0 ? [] : [formatPlugins(results.plugins)]),
    ...(results.guardrails.length === 0 ? [] : [formatGuardrails(results.guardrails)]),
    ...(results.documents.length === 0 ? [] : [formatDocuments(results.documents)]),
    ...(results.fusion.length === 0 ? [] : [formatFusion(results.fusion)]),
    ...(results.hostile.length === 0 ? [] : [formatHostile(results.hostile)]),
    ...(results.path.length === 0 ? [] : [formatPath(results.path)]),
    ...(results.media === undefined ? [] : [formatMedia(results.media)]),
    formatPeaks(results.peaks),
    ...(results.goals.length === 0 ? [] : [formatGoals(results.goals)]),
    ...(warning === undefined ? [] : [warning]),
  ];
  console.log(sections.join('\n\n'));
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const plan = planRun(options.quick);
  const directory = mkdtempSync(path.join(tmpdir(), 'model-gateway-bench-'));
  process.once('exit', () => {
    stopAll();
    rmSync(directory, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  if (options.profile !== undefined) {
    const mock = await startMock(directory);
    console.log(await profileGateway({ profile: options.profile, directory, mock, models: listModels(plan), note }));
    return;
  }
  const results = await measure(options, plan, directory);
  note('');
  if (options.json) console.log(JSON.stringify(results, undefined, 2));
  else print(results);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
