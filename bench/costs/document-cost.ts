// What reading PDFs costs, and for how long it keeps the process from its other work: the plugin itself, from the request to
// the request with text in the place of the file. Run by documents.ts in a process of its own, which has threads.
import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import * as z from 'zod';

import type { GenerationRequest } from '../../src/canonical/request.ts';
import { createFileReader } from '../../src/documents/file-reader.ts';
import { createTextMaker } from '../../src/documents/text-maker.ts';
import { createHttpClient } from '../../src/lib/net/http-client.ts';
import type { PluginContext } from '../../src/plugins/contract.ts';
import { fileParser } from '../../src/plugins/file-parser/plugin.ts';
import { makePdf, makePdfOf } from '../../tests/support/files/make-pdf.ts';
import { median } from '../statistics.ts';
import { watchLoop } from './watch-loop.ts';
import { plainDirectives } from '../../tests/support/plain-directives.ts';

export const documentCostsSchema = z.array(
  z.object({
    what: z.string(),
    pagesPerS: z.number(),
    /** The longest silence of the event loop meanwhile; of all runs the least, since a busy machine is silent by itself. */
    blockMs: z.number(),
  }),
);
export type DocumentCosts = readonly Readonly<z.infer<typeof documentCostsSchema>[number]>[];

const WARM_UP_RUNS = 1;
const RUNS = 5;
const MS_PER_S = 1_000;
const LINES = 40;
const KB = 1_024;

function pageOfWords(page: number): { readonly lines: readonly string[] } {
  return {
    lines: Array.from(
      { length: LINES },
      (_, line) => `Line ${line} of page ${page}, which is as full of words as pages are.`,
    ),
  };
}

/** Beside its words so many bytes that cannot be packed, as pictures are. */
function pageOfBytes(bytes: number): Buffer {
  return deflateSync(`BT /F1 11 Tf 50 780 Td (a few words) Tj ET\n%${randomBytes(bytes / 2).toString('hex')}`);
}

const CASES: readonly (readonly [what: string, pages: number, file: () => Buffer])[] = [
  ['10 pages of words', 10, () => makePdf(Array.from({ length: 10 }, (_, at) => pageOfWords(at)))],
  ['300 pages of words', 300, () => makePdf(Array.from({ length: 300 }, (_, at) => pageOfWords(at)))],
  ['300 pages, 12 MB', 300, () => makePdfOf(Array.from({ length: 300 }, () => pageOfBytes(80 * KB)))],
];

function requestOf(file: Buffer): GenerationRequest {
  const source = { type: 'base64', mediaType: 'application/pdf', data: file.toString('base64') } as const;
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [{ role: 'user', blocks: [{ type: 'media', media: 'document', source, name: 'a.pdf' }] }],
    tools: [],
    settings: {},
    directives: plainDirectives('bench/model'),
    warnings: [],
  };
}

async function measure(): Promise<DocumentCosts> {
  const http = createHttpClient();
  const textMaker = createTextMaker({ memoryBytes: 1_073_741_824, processBytes: Infinity });
  const download = (): Promise<never> => Promise.reject(new Error('nothing is fetched'));
  const context: PluginContext = {
    signal: new AbortController().signal,
    isRequested: true,
    abilities: { files: createFileReader({ http, download, textMaker }) },
    nowMs: () => Date.now(),
    note: () => undefined,
    warn: () => undefined,
    endpointsOf: () => [{ inputModalities: ['text'] }],
    fund: () => Promise.resolve(),
    charge: () => undefined,
    keepForError: () => undefined,
  };
  const costs: DocumentCosts[number][] = [];
  for (const [what, pages, file] of CASES) {
    const request = requestOf(file());
    const rates: number[] = [];
    const blocks: number[] = [];
    for (let run = 0; run < WARM_UP_RUNS + RUNS; run++) {
      const loop = watchLoop();
      const startedMs = performance.now();
      await fileParser.transformRequest?.(request, {}, context);
      const tookMs = performance.now() - startedMs;
      const blockMs = loop.stop();
      if (run < WARM_UP_RUNS) continue;
      rates.push((pages * MS_PER_S) / tookMs);
      blocks.push(blockMs);
    }
    costs.push({ what, pagesPerS: median(rates), blockMs: Math.min(...blocks) });
  }
  await Promise.all([http.close(), textMaker.close()]);
  return costs;
}

if (import.meta.main) process.stdout.write(JSON.stringify(await measure()));
