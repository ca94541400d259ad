// The cost of plugins without a socket: the stage itself without any plugin, JSON repair by the length of the response,
// and removing the middle of a long conversation. Run by plugins.ts in a process of its own.
import * as z from 'zod';

import { mergeRules } from '../../src/accounts/policy/policy.ts';
import type { EventBatch } from '../../src/canonical/events.ts';
import type { GenerationRequest, Turn } from '../../src/canonical/request.ts';
import { openRouteReport } from '../../src/canonical/route-report.ts';
import { applyPlugins, type ApplyPluginsInput } from '../../src/pipeline/plugins/apply-plugins.ts';
import { fitByMiddleOut } from '../../src/plugins/context-compression/fit-request.ts';
import type { Plugin } from '../../src/plugins/contract.ts';
import { PLUGINS } from '../../src/plugins/index.ts';
import { Healer } from '../../src/plugins/response-healing/healer.ts';
import { median } from '../statistics.ts';
import { plainDirectives } from '../../tests/support/plain-directives.ts';

export const resultSchema = z.array(z.object({ what: z.string(), us: z.number(), kb: z.number().optional() }));
export type PluginCosts = Readonly<z.infer<typeof resultSchema>>;
type PluginCost = PluginCosts[number];

const ROUNDS = 15;
const WARM_UP_MS = 400;
const ROUND_MS = 20;
const KB = 1_024;
const DELTA_CHARS = 20;
const POLICY = { ...mergeRules([]), limits: [], preferences: [], plugins: [], defaultModel: null };

function requestOf(turns: readonly Turn[]): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'stream',
    turns,
    tools: [],
    settings: {},
    directives: plainDirectives('bench/model'),
    warnings: [],
  };
}

function emit(role: Turn['role'], text: string): Turn {
  return { role, blocks: [{ type: 'text', text }] };
}

/** CPU time of one call. */
async function measure(what: string, run: () => unknown, kb?: number): Promise<PluginCost> {
  const untilMs = performance.now() + WARM_UP_MS;
  let calls = 0;
  while (performance.now() < untilMs) {
    await run();
    calls++;
  }
  const batch = Math.max(1, Math.round((calls * ROUND_MS) / WARM_UP_MS));
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begin = process.cpuUsage();
    for (let call = 0; call < batch; call++) await run();
    const { user, system } = process.cpuUsage(begin);
    rounds.push((user + system) / batch);
  }
  return { what, us: median(rounds), ...(kb !== undefined && { kb }) };
}

function measureStage(what: string, plugins: readonly Plugin[]): Promise<PluginCost> {
  const request = requestOf([emit('user', 'What is the capital of France?')]);
  const input: ApplyPluginsInput = {
    log: {
      warn: () => undefined,
      chargePlugin: () => undefined,
      errorMetadata: {},
      createdMs: 0,
      noteStep: () => undefined,
    },
    report: openRouteReport('bench/model', 0),
    rules: { policy: POLICY },
    variants: new Set(),
    cancellation: new AbortController(),
    endpointsOf: () => [],
    fund: () => Promise.resolve(),
  };
  const parts = { plugins, abilities: {}, nowMs: () => 0 };
  return measure(what, () => applyPlugins(parts, request, input));
}

/** An object of about so many characters. */
function jsonOf(chars: number): string {
  const entry = { name: 'an entry', count: 12, tags: ['one', 'two'], text: 'some words "and" more of them' };
  return JSON.stringify({
    entries: Array.from({ length: Math.ceil(chars / JSON.stringify(entry).length) }, () => entry),
  });
}

function measureHealing(what: string, text: string, streams: boolean): Promise<PluginCost> {
  const deltas: EventBatch[] = [];
  for (let at = 0; at < text.length; at += DELTA_CHARS)
    deltas.push([{ type: 'block-delta', index: 0, text: text.slice(at, at + DELTA_CHARS) }]);
  const batches: readonly EventBatch[] = [
    [{ type: 'block-start', index: 0, block: { type: 'text', text: '' } }],
    ...deltas,
    [
      { type: 'block-end', index: 0 },
      { type: 'end', finish: 'stop' },
    ],
  ];
  const run = (): void => {
    const healer = new Healer({ wanted: 'object', streams, onHealed: () => undefined });
    for (const batch of batches) healer.push(batch);
  };
  return measure(`response-healing: ${what}`, run, text.length / KB);
}

function measureCompression(): Promise<PluginCost> {
  const turns = Array.from({ length: 400 }, (_, index) =>
    emit(index % 2 === 0 ? 'user' : 'assistant', 'word '.repeat(200)),
  );
  const request = requestOf(turns);
  const fitting = fitByMiddleOut(request, true);
  return measure('context-compression: 400 messages of 1 KB to half', () =>
    fitting.fit(request, { contextTokensMax: 50_000 }, 'chat'),
  );
}

async function measureAll(): Promise<PluginCosts> {
  const long = jsonOf(64 * KB);
  const short = jsonOf(3 * KB);
  return [
    await measureStage('the stage without any plugin', []),
    await measureStage('the stage with all of them, none enabled', Object.values(PLUGINS)),
    await measureHealing('valid JSON, whole', long, false),
    await measureHealing('valid JSON, streamed', long, true),
    await measureHealing('JSON in a fence, whole', `\`\`\`json\n${long}\n\`\`\``, false),
    await measureHealing('a comma too many, whole', `${short.slice(0, -1)},}`, false),
    await measureHealing('a comma too many in a long text, whole', `${long.slice(0, -1)},}`, false),
    await measureHealing('a comma too many, streamed', `${short.slice(0, -1)},}`, true),
    await measureCompression(),
  ];
}

if (import.meta.main) console.log(JSON.stringify(await measureAll()));
