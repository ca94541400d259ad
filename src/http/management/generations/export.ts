import { Readable } from 'node:stream';
import { z } from 'zod';
import type { GenerationPlace, GenerationSearch } from '../../../accounts/generation-lookup.ts';
import { assert } from '../../../lib/assert.ts';
import { sightOf } from './sight.ts';
import { defineRoute, NO_BODY, NOTHING, type ManagementServices } from '../route.ts';
import { filterShape, searchOf } from './list.ts';
import { serializeListed } from './serialize-listed.ts';

const EXPORTED_MAX = 1_000_000;
const PAGE_ROWS = 500;
/** Spreadsheets take a cell that begins so for a formula, which may send the sheet to a stranger. */
const FORMULA = /^[=+\-@\t\r]/;

const FORMATS = {
  csv: { contentType: 'text/csv; charset=utf-8', write: writeCsv },
  jsonl: { contentType: 'application/x-ndjson; charset=utf-8', write: writeJsonLines },
} as const;

type Row = ReturnType<typeof serializeListed>;

export const exportGenerations = defineRoute({
  method: 'GET',
  path: '/generations/export',
  scope: 'any',
  role: 'member',
  readsRecords: true,
  operationId: 'exportGenerations',
  tag: 'Generations',
  summary: 'Download generations, newest first, as CSV or as lines of JSON; a normal key gets its own',
  params: NOTHING,
  query: z.strictObject({
    format: z
      .enum(['csv', 'jsonl'])
      .optional()
      .describe('Default: csv. JSON has each line as `GET /generations` has it.'),
    ...filterShape,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'At most 1,000,000 records, as they are read.',
      schema: z.string(),
      contentType: FORMATS.csv.contentType,
    },
  },
  errors: [400, 429],
  users: 'narrowed',
  async handle({ principal, viewer, query, services }) {
    assert(principal !== undefined, 'only a key gets here');
    // A filter that nothing fits reads the whole table.
    await services.insights.take(principal);
    const { format = 'csv', ...filters } = query;
    const search = searchOf(filters, sightOf({ principal, viewer }));
    const { contentType, write } = FORMATS[format];
    return {
      status: 200,
      body: Readable.from(write(rowsOf(services, search))),
      contentType,
      headers: { 'content-disposition': `attachment; filename="generations.${format}"` },
    };
  },
});

/** Pages as they are wanted: a slow reader holds one of them. */
async function* rowsOf(
  { generations }: Pick<ManagementServices, 'generations'>,
  search: Omit<GenerationSearch, 'limit'>,
): AsyncGenerator<readonly Row[]> {
  let after: GenerationPlace | undefined;
  for (let rowsLeft = EXPORTED_MAX; rowsLeft > 0;) {
    const limit = Math.min(PAGE_ROWS, rowsLeft);
    const { rows, next } = await generations.search({ ...search, limit, ...(after !== undefined && { after }) });
    const names = await generations.keyNames([...new Set(rows.map(({ keyHash }) => keyHash))]);
    yield rows.map((row) => serializeListed(row, names.get(row.keyHash) ?? null));
    if (next === undefined) return;
    after = next;
    rowsLeft -= rows.length;
  }
}

async function* writeJsonLines(pages: AsyncIterable<readonly Row[]>): AsyncGenerator<string> {
  for await (const rows of pages) if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

async function* writeCsv(pages: AsyncIterable<readonly Row[]>): AsyncGenerator<string> {
  let hasHead = false;
  for await (const rows of pages) {
    const [first] = rows;
    if (first === undefined) continue;
    if (!hasHead) yield `${Object.keys(first).join(',')}\r\n`;
    hasHead = true;
    yield rows.map((row) => `${Object.values(row).map(cellOf).join(',')}\r\n`).join('');
  }
}

/** @source RFC 4180 */
function cellOf(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
