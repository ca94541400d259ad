import { Readable } from 'node:stream';
import type { RouteAnswer } from '../route.ts';

type Cell = string | number | boolean | null;
export type FileRow = Readonly<Record<string, Cell>>;

/** The forms of a list that is downloaded. */
export const FILE_FORMATS = ['csv', 'jsonl'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

export const CSV_TYPE = 'text/csv; charset=utf-8';
const WRITERS = {
  csv: { contentType: CSV_TYPE, write: writeCsv },
  jsonl: { contentType: 'application/x-ndjson; charset=utf-8', write: writeJsonLines },
} as const satisfies Record<FileFormat, unknown>;

/** Spreadsheets take a cell that begins so for a formula, which may send the sheet to a stranger. */
const FORMULA = /^[=+\-@\t\r]/;

export interface RowFile {
  /** Without its ending. */
  readonly name: string;
  readonly format: FileFormat;
  /** Read as they are wanted: a slow reader holds one page. */
  readonly pages: AsyncIterable<readonly FileRow[]> | Iterable<readonly FileRow[]>;
  /** What made the rows: the first line of the file. */
  readonly note?: object | undefined;
}

/** The response that sends rows as a file. */
export function sendRows({ name, format, pages, note }: RowFile): RouteAnswer & { readonly body: Readable } {
  const { contentType, write } = WRITERS[format];
  return {
    status: 200,
    body: Readable.from(write(pages, note)),
    contentType,
    headers: { 'content-disposition': `attachment; filename="${name}.${format}"` },
  };
}

async function* writeJsonLines(pages: RowFile['pages'], note: RowFile['note']): AsyncGenerator<string> {
  if (note !== undefined) yield `${JSON.stringify(note)}\n`;
  for await (const rows of pages) if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

async function* writeCsv(pages: RowFile['pages'], note: RowFile['note']): AsyncGenerator<string> {
  if (note !== undefined) yield `${cellOf(`# ${JSON.stringify(note)}`)}\r\n`;
  let hasHead = false;
  for await (const rows of pages) {
    const [first] = rows;
    if (first === undefined) continue;
    if (!hasHead) yield `${Object.keys(first).map(cellOf).join(',')}\r\n`;
    hasHead = true;
    yield rows.map((row) => `${Object.values(row).map(cellOf).join(',')}\r\n`).join('');
  }
}

/** @source RFC 4180 */
function cellOf(value: Cell): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
