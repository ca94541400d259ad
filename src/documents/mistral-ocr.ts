import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FilePart, FileSource, ParseOutcome } from '../canonical/tools/parsed-file.ts';
import { NoMemoryError, type GrowingBytes } from '../lib/memory/growing-bytes.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { callJson, JsonCallError, type JsonAnswer } from '../lib/net/json-call.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';

// Wire: docs.mistral.ai "OCR" (POST /v1/ocr), and @mistralai/mistralai 2.7.0, read 2026-11.

export interface OcrSettings {
  /** Without a slash at its end: `https://api.mistral.ai/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

/** 2 USD for a thousand pages. @spec plugin-11, plugin-12 */
export const PAGE_NANO_USD = 2_000_000;
/** Of one file. @spec plugin-11, plugin-12 */
const IMAGES_MAX = 8;
/** Limit of one file, the same as that of PDFs that are read here. @spec plugin-11, plugin-12 */
const OCR_TIMEOUT_MS = 30_000;
/** The text of a thousand pages, and eight pictures. */
const ANSWER_BYTES_MAX = 64 * 1_024 * 1_024;

export type OcrOutcome =
  | { readonly status: 'parsed'; readonly pages: number; readonly parts: readonly FilePart[] }
  | Extract<ParseOutcome, { status: 'failed' }>;

/** The body is there as text and as bytes while it is made and sent. */
const BODY_COPIES = 2;

interface OcrCall {
  readonly memory: GrowingBytes | undefined;
  readonly signal: AbortSignal;
}

/** Reads one PDF at Mistral's service. @throws NoMemoryError */
export async function runOcr(
  http: HttpClient,
  { baseUrl, apiKey, model }: OcrSettings,
  source: FileSource,
  { memory, signal }: OcrCall,
): Promise<OcrOutcome> {
  if (source.type === 'bytes') await memory?.hold(source.bytes.length * BODY_COPIES);
  const bodyBytes = await formatBody(source, model);
  const headers = { authorization: `Bearer ${apiKey}` };
  const limits = { timeoutMs: OCR_TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX, memory };
  let answer: JsonAnswer;
  try {
    const url = new URL(`${baseUrl}/ocr`);
    answer = await callJson(http, { method: 'POST', url, headers, bodyBytes }, limits, signal);
  } catch (error) {
    if (!(error instanceof JsonCallError)) throw error;
    if (error.cause instanceof NoMemoryError) throw error.cause;
    return failed('service', `The service that reads files ${error.message}.`);
  }
  if (answer.status === 200)
    return readAnswer(answer.body) ?? failed('service', 'The service answered something else.');
  // A file that it cannot read, or an address that it cannot fetch.
  if (answer.status === 400 || answer.status === 413 || answer.status === 422)
    return failed('caller', `The service that reads files refused the file (status ${answer.status}).`);
  return failed('service', `The service that reads files failed with status ${answer.status}.`);
}

/** What is encoded before others have their turn, a few milliseconds: of three bytes come four characters, and none is left. */
const BYTES_PER_TURN = 3 * 1_024 * 1_024;

/** A file is put in as it is: looking through megabytes of base64 for what JSON escapes takes long, and there is nothing. */
async function formatBody(source: FileSource, model: string): Promise<Buffer> {
  const settings = JSON.stringify({ model, include_image_base64: true, image_limit: IMAGES_MAX });
  const document = `${settings.slice(0, -1)},"document":{"type":"document_url","document_url":`;
  if (source.type === 'url') return Buffer.from(`${document}${JSON.stringify(source.url)}}}`);
  const { buffer, byteOffset, length } = source.bytes;
  const start = `${document}"data:application/pdf;base64,`;
  const body = Buffer.allocUnsafe(Buffer.byteLength(start) + Math.ceil(length / 3) * 4 + END.length);
  let written = body.write(start);
  for (let at = 0; at < length; at += BYTES_PER_TURN) {
    const bytes = Buffer.from(buffer, byteOffset + at, Math.min(BYTES_PER_TURN, length - at));
    written += body.write(bytes.toString('base64'), written, 'latin1');
    await nextTurn();
  }
  body.write(END, written);
  return body;
}

const END = '"}}';

function failed(fault: 'caller' | 'service', message: string): OcrOutcome {
  return { status: 'failed', fault, message };
}

function readAnswer(body: Json | undefined): OcrOutcome | undefined {
  if (!isJsonObject(body) || !Array.isArray(body['pages'])) return undefined;
  const pages = body['pages'].filter(isJsonObject);
  const text = pages.map(formatPage).filter((page) => page !== '');
  const images = pages.flatMap(imagesOf).slice(0, IMAGES_MAX);
  const usage = body['usage_info'];
  const counted = isJsonObject(usage) ? usage['pages_processed'] : undefined;
  return {
    status: 'parsed',
    pages: typeof counted === 'number' && Number.isSafeInteger(counted) && counted >= 0 ? counted : pages.length,
    parts: [...(text.length > 0 ? [{ type: 'text', text: text.join('\n\n') } as const] : []), ...images],
  };
}

function formatPage({ index, markdown }: JsonObject): string {
  if (typeof markdown !== 'string' || markdown.trim() === '') return '';
  return typeof index === 'number' ? `## Page ${index + 1}\n\n${markdown.trim()}` : markdown.trim();
}

function imagesOf({ images }: JsonObject): readonly FilePart[] {
  if (!Array.isArray(images)) return [];
  return images.filter(isJsonObject).flatMap(({ image_base64: data }) => {
    if (typeof data !== 'string' || data === '') return [];
    return [{ type: 'image', url: data.startsWith('data:') ? data : `data:image/jpeg;base64,${data}` } as const];
  });
}
