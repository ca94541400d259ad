import { setTimeout as sleep } from 'node:timers/promises';

import { GATEWAY_KEY } from '../gateway.ts';
import { createKey } from '../manage.ts';
import { readCpuMs, readPeakMiB, resetPeak } from '../process-stats.ts';
import type { ServerProcess } from '../processes.ts';
import { median } from '../statistics.ts';
import { ANSWER_SIZES, CLIP_BYTES, NARROW } from './loads.ts';
import { call, type Target, type Targets } from './targets.ts';

/** What takes more than one answer, or more than one process. */
export interface FlowResults {
  /** Of a batch in parts, over as many rounds of calls as four at a time need. */
  readonly splitAdded: number;
  readonly forms: { readonly ratio: number; readonly grownMiB: number };
  /** Of readers that stall. */
  readonly stalledMiB: number;
  readonly jobs: { readonly open: number; readonly core: number; readonly lateMs: number };
  readonly clips: { readonly ratio: number };
}

interface FlowDeps {
  readonly mock: ServerProcess;
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly note: (line: string) => void;
}

const PARTS_AT_ONCE = 4;
const FORMS = { bytes: 24_000_000, atOnce: 20, calls: 40 } as const;
const STALLED = { readers: 20, ms: 4_000 } as const;
/** As many as an account, and a key, may have open. */
const JOBS = { open: 1_000, perKey: 100, atOnce: 16 } as const;
/** Looks come ever more seldom: every half a minute in the end. */
const JOBS_SETTLE_MS = { quick: 0, full: 60_000 } as const;
const JOBS_MS = { quick: 15_000, full: 60_000 } as const;
const READERS = 8;

export async function measureFlows(targets: Targets, deps: FlowDeps): Promise<FlowResults> {
  const { note, rounds } = deps;
  note('media: a batch in parts');
  const splitAdded = await measureSplit(targets, rounds);
  note('media: forms of 24 MB');
  const forms = await measureForms(targets);
  note('media: readers that stall');
  const stalledMiB = await measureStalled(targets.gateway);
  note('media: ranges of clips');
  const clips = { ratio: await measureClips(targets, rounds) };
  note('media: open jobs');
  const jobs = await measureJobs(targets.gateway, deps);
  return { splitAdded, forms, stalledMiB, jobs, clips };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

async function inTurns(count: number, atOnce: number, run: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await run(at);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
}

/** The upstream takes its time for each call, so that a wait for one part shows. */
async function measureSplit({ proxy, gateway }: Targets, rounds: number): Promise<number> {
  const bodyOf = (target: Target, count: number): string =>
    JSON.stringify({ model: target.nameOf(NARROW.model), input: Array.from({ length: count }, String) });
  const calls = Math.ceil(ANSWER_SIZES.inputs / NARROW.inputs / PARTS_AT_ONCE);
  const added: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const inARow = await timed(() =>
      inTurns(calls, 1, () => call(proxy, '/v1/embeddings', { body: bodyOf(proxy, NARROW.inputs) })),
    );
    const whole = await timed(() => call(gateway, '/v1/embeddings', { body: bodyOf(gateway, ANSWER_SIZES.inputs) }));
    if (round > 0) added.push(whole / inARow - 1);
  }
  return median(added);
}

const BOUNDARY = 'bench-boundary';

/** The file stands before the model, so that nothing can be sent on before the form has ended. */
function formOf(target: Target): Buffer {
  const part = (name: string, more = ''): string =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const sound = Buffer.alloc(FORMS.bytes, 1);
  sound.write('ID3\u0004', 'latin1');
  return Buffer.concat([
    Buffer.from(part('file', '; filename="a.mp3"')),
    sound,
    Buffer.from(`\r\n${part('model')}${target.nameOf('hear')}\r\n--${BOUNDARY}--\r\n`),
  ]);
}

async function measureForms({ proxy, gateway }: Targets): Promise<FlowResults['forms']> {
  const send = (target: Target): Promise<number> => {
    const body = formOf(target);
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    return timed(() =>
      inTurns(FORMS.calls, FORMS.atOnce, () => call(target, '/v1/audio/transcriptions', { body, headers })),
    );
  };
  await send(gateway);
  const piped = await send(proxy);
  const grown = growthOf(gateway.server);
  const spooled = await send(gateway);
  return { ratio: piped / spooled, grownMiB: grown() };
}

/** @returns how much more memory the process has held since, MiB */
function growthOf({ pid }: ServerProcess): () => number {
  resetPeak(pid);
  const beforeMiB = readPeakMiB(pid) ?? Number.NaN;
  return () => (readPeakMiB(pid) ?? Number.NaN) - beforeMiB;
}

async function measureStalled({ server, pool, nameOf }: Target): Promise<number> {
  const grown = growthOf(server);
  const body = JSON.stringify({ model: nameOf('long'), input: 'Hello', voice: 'one', response_format: 'pcm' });
  const headers = { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' };
  const open = await Promise.all(
    Array.from({ length: STALLED.readers }, () =>
      pool.request({ path: '/v1/audio/speech', method: 'POST', headers, body }),
    ),
  );
  await sleep(STALLED.ms);
  const grownMiB = grown();
  for (const { body: unread } of open) unread.on('error', () => undefined).destroy();
  return grownMiB;
}

async function begin(target: Target, model: string, key?: string): Promise<string> {
  const { pool, nameOf } = target;
  const answer = await pool.request({
    path: '/v1/videos',
    method: 'POST',
    headers: { authorization: `Bearer ${key ?? GATEWAY_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: nameOf(model), prompt: 'x', duration: 1 }),
  });
  const job = (await answer.body.json()) as { readonly id?: string };
  if (job.id === undefined) throw new Error(`no job was begun: ${JSON.stringify(job)}`);
  return job.id;
}

/** Halves of one clip, by readers side by side. */
async function measureClips({ proxy, gateway }: Targets, rounds: number): Promise<number> {
  const id = await begin(gateway, 'grok-imagine-video');
  const path = `/v1/videos/${id}`;
  for (let tries = 0; ; tries++) {
    const answer = await gateway.pool.request({
      path,
      method: 'GET',
      headers: { authorization: `Bearer ${GATEWAY_KEY}` },
    });
    const { status } = (await answer.body.json()) as { readonly status?: string };
    if (status === 'completed') break;
    if (tries > 300) throw new Error(`the clip was never made: ${status}`);
    await sleep(100);
  }
  const read = (target: Target, clip: string): Promise<number> =>
    timed(() =>
      inTurns(READERS, READERS, async (at) => {
        const from = at % 2 === 0 ? 0 : CLIP_BYTES / 2;
        const range = `bytes=${from}-${from + CLIP_BYTES / 2 - 1}`;
        // The proxy hands no header on.
        const place = target === proxy ? `${clip}?${range}` : clip;
        const { bytes } = await call(target, place, { method: 'GET', headers: { range } });
        if (bytes !== CLIP_BYTES / 2) throw new Error(`${bytes} bytes of a clip came`);
      }),
    );
  const ratios: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const piped = await read(proxy, '/clip');
    const own = await read(gateway, `${path}/content`);
    if (round > 0) ratios.push(piped / own);
  }
  return median(ratios);
}

/** Jobs that never end: what the looks at them cost, and how late they are. */
async function measureJobs(gateway: Target, { mock, isQuick }: FlowDeps): Promise<FlowResults['jobs']> {
  const keys: string[] = [];
  for (let at = 0; at < JOBS.open / JOBS.perKey; at++)
    keys.push(await createKey(gateway.server, { name: `clips ${at}` }));
  await inTurns(JOBS.open, JOBS.atOnce, (at) => begin(gateway, 'grok-imagine-video-open', keys[at % keys.length]));
  await sleep(isQuick ? JOBS_SETTLE_MS.quick : JOBS_SETTLE_MS.full);
  const { pid } = gateway.server;
  const cpuMs = readCpuMs(pid) ?? Number.NaN;
  const ms = isQuick ? JOBS_MS.quick : JOBS_MS.full;
  await sleep(ms);
  const core = ((readCpuMs(pid) ?? Number.NaN) - cpuMs) / ms;
  const looks = await fetch(`http://${mock.host}:${mock.port}/looks`);
  const { lateMs } = (await looks.json()) as { readonly lateMs: number };
  return { open: JOBS.open, core, lateMs };
}
