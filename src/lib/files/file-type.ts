import { isJsonObject, parseJson } from '../json.ts';

/** Detects the media type of a file from its bytes as they pass. Its name and its declared type do not count. */
export interface FileTypeFinder {
  push(chunk: Uint8Array): void;
  /** The media type, once all bytes have passed; `undefined` for a type that is not known here. */
  end(): string | undefined;
}

/** Bytes of the beginning that are kept: a small text completely, because its structure decides. */
const HEAD_BYTES = 262_144;
/** Bytes of the end that are kept: there an archive lists its members. */
const TAIL_BYTES = 65_536;
/** Lines of a text that are examined. */
const LINES_MAX = 20;
/** Characters of each line that are examined. */
const LINE_CHARS_MAX = 1_000;

/** A class because it collects state while the file passes. */
class Finder implements FileTypeFinder {
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail = Buffer.alloc(0);
  #bytes = 0;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #isText = true;

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    const part = chunk.subarray(0, HEAD_BYTES - this.#headBytes);
    if (part.length > 0) {
      this.#head.push(Uint8Array.from(part));
      this.#headBytes += part.length;
    }
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    if (this.#isText) this.#isText = this.#isTextSoFar(chunk);
  }

  #isTextSoFar(chunk: Uint8Array): boolean {
    // Text has no zero byte, and most other files do.
    if (chunk.includes(0)) return false;
    try {
      this.#decoder.decode(chunk, { stream: true });
      return true;
    } catch {
      return false;
    }
  }

  end(): string | undefined {
    const head = Buffer.concat(this.#head);
    const known = typeOfBinary(head, this.#tail);
    if (known !== undefined) return known;
    if (!this.#isText || this.#bytes === 0) return undefined;
    try {
      this.#decoder.decode();
    } catch {
      return undefined;
    }
    return typeOfText(head, this.#tail, this.#bytes <= head.length);
  }
}

export function createFileTypeFinder(): FileTypeFinder {
  return new Finder();
}

const ZIP = 'PK\u0003\u0004';
const OFFICE = 'application/vnd.openxmlformats-officedocument.';
const OFFICE_PARTS: readonly (readonly [part: string, type: string])[] = [
  ['word/', `${OFFICE}wordprocessingml.document`],
  ['xl/', `${OFFICE}spreadsheetml.sheet`],
  ['ppt/', `${OFFICE}presentationml.presentation`],
];

/** Compares the first bytes with those that IANA or the specification of a format registers. */
function typeOfBinary(head: Buffer, tail: Buffer): string | undefined {
  const start = head.toString('latin1', 0, 16);
  if (start.startsWith('%PDF-')) return 'application/pdf';
  if (start.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png';
  if (start.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif';
  if (start.startsWith('RIFF')) return typeOfRiff(start.slice(8, 12));
  if (start.startsWith('fLaC')) return 'audio/flac';
  if (start.startsWith('OggS')) return 'audio/ogg';
  if (start.startsWith('ID3') || isMp3Frame(head)) return 'audio/mpeg';
  if (start.startsWith(ZIP)) return typeOfArchive(tail);
  return undefined;
}

function typeOfRiff(form: string): string | undefined {
  if (form === 'WEBP') return 'image/webp';
  return form === 'WAVE' ? 'audio/wav' : undefined;
}

/** Eleven set bits, and no value that the format reserves: layer III of MPEG 1, 2 or 2.5. */
function isMp3Frame(head: Buffer): boolean {
  const [first = 0, second = 0, third = 0] = head;
  const isLayer3 = (second & 0b0000_0110) === 0b0000_0010;
  const isKnownVersion = (second & 0b0001_1000) !== 0b0000_1000;
  const hasRates = third >> 4 !== 0b1111 && third >> 4 !== 0 && (third & 0b0000_1100) !== 0b0000_1100;
  return first === 0xff && (second & 0b1110_0000) === 0b1110_0000 && isLayer3 && isKnownVersion && hasRates;
}

/** Office documents; every other archive is unknown. */
function typeOfArchive(tail: Buffer): string | undefined {
  const listed = tail.toString('latin1');
  if (!listed.includes('[Content_Types].xml')) return undefined;
  return OFFICE_PARTS.find(([part]) => listed.includes(part))?.[1];
}

/** @spec file-2 */
function typeOfText(head: Buffer, tail: Buffer, isWhole: boolean): string {
  const text = head.toString('utf8').replace(/^\uFEFF/, '');
  if (isJson(text, tail, isWhole)) return 'application/json';
  const all = text.split(/\r?\n/).slice(0, LINES_MAX + 1);
  // The last may be cut off.
  const lines = (isWhole && all.length <= LINES_MAX ? all : all.slice(0, -1)).filter((line) => line.trim() !== '');
  if (lines.length > 1 && lines.every((line) => isJsonObject(parseJson(line)))) return 'application/x-ndjson';
  if (isMarkdown(lines)) return 'text/markdown';
  return isCsv(lines) ? 'text/csv' : 'text/plain';
}

/** A large text is judged by its two ends: parsing all of it would hold the event loop. */
function isJson(text: string, tail: Buffer, isWhole: boolean): boolean {
  const start = text.trimStart().charAt(0);
  if (start !== '{' && start !== '[') return false;
  if (isWhole) return parseJson(text) !== undefined;
  const firstLine = text.slice(0, text.indexOf('\n'));
  const end = tail.toString('utf8').trimEnd().at(-1);
  return end === (start === '{' ? '}' : ']') && parseJson(firstLine) === undefined;
}

/** No part matches past the beginning of the next link, or a line of nothing but brackets would take quadratic time. */
const MARKDOWN = /^#{1,6} \S|^```|^\s*[-*+] \[[ x]\] |\[[^[\]]+\]\([^()\s]+\)|^\|? ?:?-{3,}:? ?\|/;

function isMarkdown(lines: readonly string[]): boolean {
  return lines.some((line) => MARKDOWN.test(line.slice(0, LINE_CHARS_MAX)));
}

/** Each line has as many columns as the first, and more than one. */
function isCsv(lines: readonly string[]): boolean {
  if (lines.length < 2) return false;
  return [',', ';', '\t'].some((separator) => {
    const columns = lines.map((line) => columnsIn(line, separator));
    return (columns[0] ?? 1) > 1 && columns.every((count) => count === columns[0]);
  });
}

function columnsIn(line: string, separator: string): number {
  return line.replaceAll(/"(?:[^"]|"")*"/g, '').split(separator).length;
}
