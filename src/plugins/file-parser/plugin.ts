import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type {
  FileEngineId,
  FileReader,
  FileSource,
  ParsedFile,
  ParseOutcome,
} from '../../canonical/tools/parsed-file.ts';
import type { EventBatch } from '../../canonical/events.ts';
import type { Warning } from '../../canonical/extra.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { EndpointFacts, Plugin, PluginContext } from '../contract.ts';
import { formatAnnotation, readAnnotations, withoutAnnotations } from './annotations.ts';
import { findPdfs, hashOf, isNamedPdf, isPdf, putInPlace, type FoundPdf } from './find-pdfs.ts';
import { fileParserOptions } from './options.ts';
import { isTextOnly } from '../../canonical/text-only.ts';

type ParserOptions = z.output<typeof fileParserOptions>;

/** Files of one request. */
const FILES_MAX = 16;

/** Of files at addresses, as of those that are sent to endpoints (pipeline/attempt/inline-media.ts). */
const FETCHED_BYTES_MAX = 100 * 1_024 * 1_024;
const FETCHES_AT_ONCE_MAX = 2;
/** `Retry-After` when the memory for files is used up. */
const RETRY_AFTER_MS = 5_000;

/** What answers of requests under way will hand back. */
const annotationsFor = new WeakMap<PluginContext, readonly JsonObject[]>();

/**
 * Replaces PDFs by their text when no endpoint of the model accepts files. It runs by default.
 * @spec plugin-9
 */
export const fileParser: Plugin<typeof fileParserOptions> = {
  id: 'file-parser',
  summary: 'Turns PDFs and scans into text for models that read no files.',
  options: fileParserOptions,
  unrequested: true,
  concerns: (request) => !isTextOnly(request),
  async transformRequest(request, options, context) {
    const found = findPdfs(request.turns);
    if (found.length === 0) return request;
    const endpoints = context.endpointsOf(request);
    const engine = engineFor(request, options, endpoints, context.abilities.files);
    return engine === undefined ? request : parseAll(found, request, { engine, endpoints, context });
  },
  transformEvents({ format }, _options, context) {
    const annotations = annotationsFor.get(context);
    // The messages format has no place for them.
    if (annotations === undefined || format !== 'chat') return undefined;
    return (events) =>
      events.flatMap((event): EventBatch =>
        event.type === 'end'
          ? [
              ...annotations.map((value) => {
                const citation = { type: 'opaque', format: 'chat', value } as const;
                return { type: 'citation', index: -1, citation } as const;
              }),
              event,
            ]
          : [event],
      );
  },
};

interface Engine {
  readonly id: FileEngineId;
  readonly files: FileReader;
}

/** `undefined`: the endpoint reads files by itself. @throws GatewayError 400 for an engine that is not set up */
function engineFor(
  request: GenerationRequest,
  { pdf }: ParserOptions,
  endpoints: readonly EndpointFacts[],
  files: FileReader | undefined,
): Engine | undefined {
  const requested = pdf?.engine ?? undefined;
  if (requested === 'native' || (requested === undefined && endpoints.some(takesFiles))) return undefined;
  // Without the service what can be read here is read here.
  const usual = files?.has('mistral-ocr') === true ? 'mistral-ocr' : 'cloudflare-ai';
  const id = requested === 'pdf-text' ? 'cloudflare-ai' : (requested ?? usual);
  if (files === undefined || !files.has(id))
    throw invalid(pathIn(request), `the engine ${JSON.stringify(id)} is not set up on this gateway`);
  return { id, files };
}

function takesFiles({ inputModalities }: EndpointFacts): boolean {
  return inputModalities === undefined || inputModalities.includes('file');
}

function takesImages({ inputModalities }: EndpointFacts): boolean {
  return inputModalities === undefined || inputModalities.includes('image');
}

/** Where the caller wrote the plugin, if it did. */
function pathIn({ directives }: GenerationRequest): string {
  const index = directives.plugins.findIndex(({ id }) => id === fileParser.id);
  return index < 0 ? 'plugins' : `plugins[${index}].pdf.engine`;
}

interface Parsing {
  readonly engine: Engine;
  readonly endpoints: readonly EndpointFacts[];
  readonly context: PluginContext;
}

/** @throws GatewayError for a file that cannot be read, and for want of money */
async function parseAll(
  found: readonly FoundPdf[],
  request: GenerationRequest,
  { engine, endpoints, context }: Parsing,
): Promise<GenerationRequest> {
  if (found.length > FILES_MAX) throw invalid('messages', `hold more than ${FILES_MAX} files to be read`);
  const known = readAnnotations(request.turns);
  const pdfs = await identifyAll(found, engine, context);
  if (pdfs.length === 0) return request;
  const fresh = uniqueBy(
    pdfs.filter(({ hash }) => !known.has(hash)),
    ({ hash }) => hash,
  );
  const { parsed, feeNanoUsd } = await parseFresh(fresh, engine, context);
  const byHash = new Map([...known, ...parsed]);
  const texts = new Map(
    pdfs.flatMap(({ pdf, hash }) => {
      const file = byHash.get(hash);
      return file === undefined ? [] : [[pdf.block, file] as const];
    }),
  );
  noteStage(texts.values(), fresh.length, { engine, feeNanoUsd, context });
  for (const [{ name }, { parts }] of texts) if (parts.length === 0) context.warn(noText(name, engine));
  const annotations = uniqueBy(pdfs, ({ hash }) => hash).flatMap(({ pdf, hash }) => {
    const file = byHash.get(hash);
    return file === undefined ? [] : [formatAnnotation(hash, file, pdf.block.name)];
  });
  annotationsFor.set(context, annotations);
  context.keepForError('file_annotations', annotations);
  const turns = putInPlace(withoutAnnotations(request.turns), texts, endpoints.some(takesImages));
  return { ...request, turns };
}

interface IdentifiedPdf {
  readonly pdf: FoundPdf;
  readonly source: FileSource;
  readonly hash: string;
}

/** In their order, without those that turned out to be something else, which is the endpoint's to read. */
async function identifyAll(
  found: readonly FoundPdf[],
  engine: Engine,
  context: PluginContext,
): Promise<readonly IdentifiedPdf[]> {
  const fetching = identifyUrls(found, engine, context);
  // It is awaited later; until then a failure must not be unhandled.
  fetching.catch(() => undefined);
  const identified = new Map<FoundPdf, IdentifiedPdf>();
  for (const pdf of found) {
    if (pdf.source.type !== 'base64') continue;
    // One after the other: each takes a while that belongs to others too.
    const source = { type: 'bytes', bytes: Buffer.from(pdf.source.data, 'base64') } as const;
    await nextTurn();
    identified.set(pdf, { pdf, source, hash: await hashOf(source) });
  }
  for (const fetched of await fetching) if (fetched !== undefined) identified.set(fetched.pdf, fetched);
  return found.flatMap((pdf) => identified.get(pdf) ?? []);
}

/** A few at once, and no more bytes than one request may hold. @throws GatewayError 400 */
async function identifyUrls(
  found: readonly FoundPdf[],
  engine: Engine,
  context: PluginContext,
): Promise<readonly (IdentifiedPdf | undefined)[]> {
  const waiting = found.values();
  const identified: (IdentifiedPdf | undefined)[] = [];
  let bytes = 0;
  const work = async (): Promise<void> => {
    for (const pdf of waiting) {
      if (pdf.source.type !== 'url') continue;
      const fetched = await identifyUrl(pdf, pdf.source.url, engine, context);
      bytes += fetched?.source.type === 'bytes' ? fetched.source.bytes.length : 0;
      if (bytes > FETCHED_BYTES_MAX)
        throw invalid('messages', `name files of more than ${FETCHED_BYTES_MAX} bytes together at addresses`);
      identified.push(fetched);
    }
  };
  await Promise.all(Array.from({ length: FETCHES_AT_ONCE_MAX }, work));
  return identified;
}

async function identifyUrl(
  pdf: FoundPdf,
  url: string,
  { id, files }: Engine,
  context: PluginContext,
): Promise<IdentifiedPdf | undefined> {
  const requested = { type: 'url', url } as const;
  // The service opens addresses by itself.
  if (id === 'mistral-ocr' && isNamedPdf(url)) return { pdf, source: requested, hash: await hashOf(requested) };
  const fetched = await files.fetch(url, context.signal, context.memory);
  if ('status' in fetched) throw refused(pdf, fetched);
  if (fetched.type !== 'bytes' || !(isPdf(fetched.bytes) || isNamedPdf(url))) return undefined;
  return { pdf, source: fetched, hash: await hashOf(fetched) };
}

async function parseFresh(
  fresh: readonly IdentifiedPdf[],
  { id, files }: Engine,
  context: PluginContext,
): Promise<{ readonly parsed: ReadonlyMap<string, ParsedFile>; readonly feeNanoUsd: number }> {
  const quotes = await Promise.all(fresh.map(({ source }) => files.quote(source, id, context.signal)));
  const feeMax = quotes.reduce((sum, quote) => sum + quote, 0);
  if (feeMax > 0) await context.fund(feeMax);
  let feeNanoUsd = 0;
  let failure: GatewayError | undefined;
  const parsed = new Map<string, ParsedFile>();
  await Promise.all(
    fresh.map(async ({ pdf, source, hash }) => {
      const outcome = await files.parse(source, id, context.signal, context.memory);
      if (outcome.status === 'failed') {
        failure ??= refused(pdf, outcome);
        return;
      }
      // Whatever becomes of the others: this one was read.
      context.charge(outcome.feeNanoUsd, 'files');
      feeNanoUsd += outcome.feeNanoUsd;
      parsed.set(hash, outcome.file);
    }),
  );
  if (failure !== undefined) throw failure;
  return { parsed, feeNanoUsd };
}

function refused({ block }: FoundPdf, { fault, message }: Extract<ParseOutcome, { status: 'failed' }>): GatewayError {
  const name = block.name === undefined ? 'A file of the request' : `The file ${JSON.stringify(block.name)}`;
  const sentence = `${name} could not be read. ${message}`;
  if (fault === 'memory')
    return new GatewayError('provider_overloaded', sentence, { status: 503, retryAfterMs: RETRY_AFTER_MS });
  return new GatewayError(fault === 'caller' ? 'invalid_request' : 'provider_unavailable', sentence);
}

/** Without it, the model would have to guess the content. */
function noText(name: string | undefined, { id }: Engine): Warning {
  const file = name === undefined ? 'a file' : `the file ${JSON.stringify(name)}`;
  const hint = id === 'mistral-ocr' ? '' : '; the engine "mistral-ocr" reads scans';
  return { code: 'content-dropped', path: 'messages', message: `${file} has no text${hint}` };
}

function noteStage(
  files: Iterable<ParsedFile>,
  fresh: number,
  {
    engine,
    feeNanoUsd,
    context,
  }: { readonly engine: Engine; readonly feeNanoUsd: number; readonly context: PluginContext },
): void {
  const all = [...files];
  const pages = all.reduce((sum, file) => sum + file.pages, 0);
  context.note({
    type: 'plugin',
    name: 'file-parser',
    summary: `Put text in the place of ${all.length} ${all.length === 1 ? 'file' : 'files'}`,
    data: { engine: engine.id, files: all.length, parsed: fresh, pages },
    costNanoUsd: feeNanoUsd,
  });
}

function uniqueBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}
