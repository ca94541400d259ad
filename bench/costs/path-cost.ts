// What one plain request to the sandbox costs when everything is warm, whole and streamed, in both formats of callers: run by path.ts in a
// process of its own. `--counts`: only what is the same in every run. `--list`: every function that ran, with its calls.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import * as z from 'zod';

import type * as App from '../../src/app.ts';
import type * as LoadConfig from '../../src/cli/load-config.ts';
import { writeRequest } from '../requests.ts';
import { openCaller, type PathCaller } from './path-caller.ts';
import {
  countFunctions,
  countPromises,
  repeat,
  sampleBytes,
  SOURCE,
  timeRequests,
  type Places,
  type RunFunction,
} from './path-meters.ts';

const placesSchema = z.array(z.object({ place: z.string(), count: z.number() }));
const pathCostSchema = z.object({
  path: z.string(),
  functions: z.number(),
  files: z.number(),
  calls: z.number(),
  promises: z.number(),
  /** Absent with `--counts`. */
  measured: z.object({ bytes: z.number(), cpuUs: z.number(), places: placesSchema }).optional(),
  /** Functions a folder of `src`, the most first. */
  folders: z.array(z.object({ folder: z.string(), functions: z.number(), files: z.number() })),
  mostCalled: placesSchema,
  mostPromises: placesSchema,
});
export type PathCost = Readonly<z.infer<typeof pathCostSchema>>;

export const resultSchema = z.array(pathCostSchema);

const PATHS = [
  { name: 'chat, whole', format: 'chat', streams: false, marker: '"choices"' },
  { name: 'chat, stream', format: 'chat', streams: true, marker: 'data: [DONE]' },
  { name: 'messages, whole', format: 'messages', streams: false, marker: '"stop_reason"' },
  { name: 'messages, stream', format: 'messages', streams: true, marker: '"message_stop"' },
] as const;
const API_KEY = 'bench-key-0123456789abcdef';
const WARM_REQUESTS = 20;
const PLACES_MAX = 15;
/** In memory where the system offers that: on a slow disk the journal writes in a thread, which takes more promises. */
const DATA_ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const COUNTS_ONLY = process.argv.includes('--counts');

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

function openCallerOf(url: string, { format, streams, marker }: (typeof PATHS)[number]): PathCaller {
  const { hostname: host, port } = new URL(url);
  const model = 'sandbox/echo';
  const request = writeRequest({ format, streams, model, host, port: Number(port), key: API_KEY, size: 'small' });
  return openCaller(url, request, marker);
}

async function measure(name: string, caller: PathCaller): Promise<{ cost: PathCost; ran: readonly RunFunction[] }> {
  await repeat(caller, WARM_REQUESTS);
  const ran = await countFunctions(caller);
  const promises = await countPromises(caller);
  const measured = COUNTS_ONLY ? undefined : await measureMore(caller);
  const cost: PathCost = {
    path: name,
    functions: ran.length,
    files: new Set(ran.map(({ file }) => file)).size,
    calls: ran.reduce((sum, { calls }) => sum + calls, 0),
    promises: Math.round(sumOf(promises)),
    ...(measured !== undefined && { measured }),
    folders: foldersOf(ran),
    mostCalled: ran
      .map(({ file, name: called, calls }) => ({ place: `${file} ${called}`, count: calls }))
      .toSorted((one, other) => other.count - one.count)
      .slice(0, PLACES_MAX),
    mostPromises: mostOf(promises),
  };
  return { cost, ran };
}

async function measureMore(caller: PathCaller): Promise<NonNullable<PathCost['measured']>> {
  const cpuUs = Math.round(await timeRequests(caller));
  const bytes = await sampleBytes(caller);
  return { bytes: Math.round(sumOf(bytes)), cpuUs, places: mostOf(bytes) };
}

function sumOf(places: Places): number {
  return places.values().reduce((sum, count) => sum + count, 0);
}

function mostOf(places: Places): PathCost['mostCalled'] {
  return [...places]
    .map(([place, count]) => ({ place, count: Math.round(count * 10) / 10 }))
    .toSorted((one, other) => other.count - one.count)
    .slice(0, PLACES_MAX);
}

function foldersOf(ran: readonly RunFunction[]): PathCost['folders'] {
  const folders = Map.groupBy(ran, ({ file }) => path.dirname(file));
  return [...folders]
    .map(([folder, inside]) => ({
      folder,
      functions: inside.length,
      files: new Set(inside.map(({ file }) => file)).size,
    }))
    .toSorted((one, other) => other.functions - one.functions);
}

async function main(): Promise<void> {
  const dataDirectory = mkdtempSync(path.join(DATA_ROOT, 'model-gateway-path-'));
  const gateway = await startGateway(dataDirectory);
  const costs: PathCost[] = [];
  const lists: string[] = [];
  try {
    for (const one of PATHS) {
      const caller = openCallerOf(gateway.url, one);
      const { cost, ran } = await measure(one.name, caller);
      caller.close();
      costs.push(cost);
      lists.push(...ran.map(({ file, name, calls }) => `${one.name}: ${file} ${name} ${calls}`));
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
