import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';

import { GATEWAY_KEY, startGateway, type GatewayOptions } from './gateway.ts';
import { median } from './statistics.ts';

/** The time that a panel takes in addition to its members. */
export interface FusionResult {
  readonly members: number;
  /** A whole request, as its caller sees it. */
  readonly wholeMs: number;
  readonly slowestMs: number;
  readonly analystMs: number;
  /** Of the run, what neither the slowest member nor the analyst took. */
  readonly aroundMs: number;
  /** Of the request, what the same calls one after the other, each by itself, do not take. */
  readonly beyondMs: number;
}

const PANELS = [1, 3, 8];
const WARM_UPS = 20;
/** So long the slowest member is silent before it answers, while the others are done. */
const SLOW_MS = 60;
const PROMPT = `ms=${SLOW_MS} Is tea better than coffee?`;
const SLOW = 'sandbox/slow';
const ANALYST = 'sandbox/json';
const AUTHOR = 'sandbox/tools';

const reply = z.object({ ms: z.number() });
const answer = z.object({
  service_metadata: z.object({
    pipeline: z.array(
      z.object({
        name: z.string(),
        data: z
          .looseObject({ ms: z.number(), members: z.array(reply), analyst: reply })
          .optional()
          .catch(undefined),
      }),
    ),
  }),
});

/** Panels of the sandbox's models, one of them slow, compared with the same models called alone. */
export async function measureFusion(
  options: GatewayOptions,
  { runs, note }: { readonly runs: number; readonly note: (line: string) => void },
): Promise<readonly FusionResult[]> {
  const gateway = await startGateway(options);
  try {
    const url = `http://${gateway.host}:${gateway.port}/v1/chat/completions`;
    const results: FusionResult[] = [];
    for (const members of PANELS) {
      note(`fusion, ${members} members`);
      results.push(await measurePanel(url, members, runs));
    }
    return results;
  } finally {
    await gateway.stop();
  }
}

async function measurePanel(url: string, members: number, runs: number): Promise<FusionResult> {
  const panel = [
    SLOW,
    ...Array.from({ length: members - 1 }, (_, at) => (at % 2 === 0 ? 'sandbox/echo' : 'sandbox/reasoning')),
  ];
  const plugin = { id: 'fusion', analysis_models: panel, model: ANALYST, tools: [] };
  const fused = { model: AUTHOR, plugins: [plugin] };
  const alone = [{ model: SLOW }, { model: ANALYST }, { model: AUTHOR }, { model: AUTHOR }];
  for (let run = 0; run < WARM_UPS; run++) await ask(url, fused);
  const whole: number[] = [];
  const slowest: number[] = [];
  const analyst: number[] = [];
  const around: number[] = [];
  const beyond: number[] = [];
  for (let run = 0; run < runs; run++) {
    const { ms, text } = await ask(url, fused);
    const { data } =
      answer.parse(JSON.parse(text)).service_metadata.pipeline.find(({ name }) => name === 'fusion') ?? {};
    if (data === undefined) throw new Error(`no panel was called: ${text.slice(0, 500)}`);
    const slowestMs = Math.max(...data.members.map((member) => member.ms));
    let apartMs = 0;
    for (const body of alone) apartMs += (await ask(url, body)).ms;
    whole.push(ms);
    slowest.push(slowestMs);
    analyst.push(data.analyst.ms);
    around.push(data.ms - slowestMs - data.analyst.ms);
    beyond.push(ms - apartMs);
    // Charges are stored behind the answers.
    await wait(5);
  }
  return {
    members,
    wholeMs: median(whole),
    slowestMs: median(slowest),
    analystMs: median(analyst),
    // The gateway reports whole milliseconds; their mean is exact to a fraction of one.
    aroundMs: around.reduce((sum, ms) => sum + ms, 0) / around.length,
    beyondMs: median(beyond),
  };
}

async function ask(url: string, body: object): Promise<{ readonly ms: number; readonly text: string }> {
  const beganMs = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${GATEWAY_KEY}`,
      'content-type': 'application/json',
      'x-service-metadata': 'enabled',
    },
    body: JSON.stringify({ messages: [{ role: 'user', content: PROMPT }], ...body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text.slice(0, 500)}`);
  return { ms: performance.now() - beganMs, text };
}
