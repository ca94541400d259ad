// Which functions of `src` one plain request runs through, whole and streamed, on the sandbox: run by path.ts in a process of its own. The
// count is V8's precise coverage of one request after others like it, from its first byte to what is stored behind its answer.
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import * as z from 'zod';

import type * as App from '../../src/app.ts';
import type * as LoadConfig from '../../src/cli/load-config.ts';

const pathCostSchema = z.object({
  delivery: z.enum(['whole', 'stream']),
  functions: z.number(),
  files: z.number(),
  /** Functions a folder of `src`, the most first. */
  folders: z.array(z.object({ folder: z.string(), functions: z.number(), files: z.number() })),
});
export type PathCost = Readonly<z.infer<typeof pathCostSchema>>;

export const resultSchema = z.array(pathCostSchema);

/** A function that ran, by the path of its file below `src`. */
interface RunFunction {
  readonly file: string;
  readonly name: string;
  readonly start: number;
}

const DELIVERIES = ['whole', 'stream'] as const;
const API_KEY = 'bench-key-0123456789abcdef';
const WARM_REQUESTS = 20;
/** Batches of records and counters that follow an answer are written by then. */
const SETTLED_MS = 1_500;
// `--source FOLDER`: another version's sources, to compare commits with one tool.
const sourceAt = process.argv.indexOf('--source');
const SOURCE = path.resolve(
  (sourceAt < 0 ? undefined : process.argv[sourceAt + 1]) ?? path.join(import.meta.dirname, '../../src'),
);

async function startGateway(dataDirectory: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(path.join(SOURCE, file)).href);
  const { loadCheckedConfig } = (await load('cli/load-config.ts')) as typeof LoadConfig;
  const { createApp } = (await load('app.ts')) as typeof App;
  const env = { GATEWAY_API_KEY: API_KEY, GATEWAY_LOG_LEVEL: 'info' };
  const { config } = loadCheckedConfig(['--port', '0', '--data-dir', dataDirectory], env);
  const app = await createApp({ config, env });
  const { url } = await app.listen();
  return { url, close: () => app.close() };
}

async function ask(url: string, delivery: (typeof DELIVERIES)[number]): Promise<void> {
  const response = await fetch(new URL('/v1/chat/completions', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox/echo',
      messages: [{ role: 'user', content: 'Hello, gateway!' }],
      ...(delivery === 'stream' && { stream: true }),
    }),
  });
  const text = await response.text();
  if (response.status !== 200 || text.includes('"error"')) throw new Error(`${response.status}: ${text.slice(0, 500)}`);
}

async function measure(url: string, delivery: (typeof DELIVERIES)[number]): Promise<readonly RunFunction[]> {
  for (let requestedCount = 0; requestedCount < WARM_REQUESTS; requestedCount++) await ask(url, delivery);
  await sleep(SETTLED_MS);
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await ask(url, delivery);
  await sleep(SETTLED_MS);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  const root = `${pathToFileURL(SOURCE).href}/`;
  return result.flatMap(({ url: script, functions }) =>
    script.startsWith(root)
      ? functions
          .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
          .map(({ functionName, ranges }) => ({
            file: script.slice(root.length),
            name: functionName,
            start: ranges[0]?.startOffset ?? 0,
          }))
      : [],
  );
}

function summarize(delivery: (typeof DELIVERIES)[number], ran: readonly RunFunction[]): PathCost {
  const folders = new Map<string, { functions: number; files: Set<string> }>();
  for (const { file } of ran) {
    const folder = path.dirname(file);
    const of = folders.get(folder) ?? { functions: 0, files: new Set() };
    of.functions += 1;
    of.files.add(file);
    folders.set(folder, of);
  }
  return {
    delivery,
    functions: ran.length,
    files: new Set(ran.map(({ file }) => file)).size,
    folders: [...folders]
      .map(([folder, { functions, files }]) => ({ folder, functions, files: files.size }))
      .toSorted((one, other) => other.functions - one.functions),
  };
}

async function main(): Promise<void> {
  const dataDirectory = mkdtempSync(path.join(tmpdir(), 'model-gateway-path-'));
  const gateway = await startGateway(dataDirectory);
  const costs: PathCost[] = [];
  const lists: string[] = [];
  try {
    for (const delivery of DELIVERIES) {
      const ran = await measure(gateway.url, delivery);
      costs.push(summarize(delivery, ran));
      lists.push(...ran.map(({ file, name }) => `${delivery} ${file} ${name || '(anonymous)'}`));
    }
  } finally {
    await gateway.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
  // The last line, behind those of the gateway's own log.
  console.log(process.argv.includes('--list') ? lists.join('\n') : JSON.stringify(costs));
}

if (import.meta.main) {
  await main();
  process.exit(0);
}
