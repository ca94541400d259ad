import { z } from 'zod';
import type { GenerationPlace, GenerationSearch } from '../../../accounts/generation-lookup.ts';
import { assert } from '../../../lib/assert.ts';
import { sightOf } from './sight.ts';
import { defineRoute, NO_BODY, NOTHING, type ManagementServices } from '../route.ts';
import { CSV_TYPE, FILE_FORMATS, sendRows } from './row-file.ts';
import { filterShape, searchOf } from './list.ts';
import { serializeListed } from './serialize-listed.ts';

const EXPORTED_MAX = 1_000_000;
const PAGE_ROWS = 500;

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
    format: z.enum(FILE_FORMATS).optional().describe('Default: csv. JSON has each line as `GET /generations` has it.'),
    ...filterShape,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'At most 1,000,000 records, as they are read.',
      schema: z.string(),
      contentType: CSV_TYPE,
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
    return sendRows({ name: 'generations', format, pages: rowsOf(services, search) });
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
