import { createContext, Script } from 'node:vm';
import { z } from 'zod';
import type { FunctionTool, Tool } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { faultOfPattern } from '../../lib/text/plain-pattern.ts';
import { failedOutcome, type ServerTool } from '../contract.ts';
import { createRanking, type Ranking } from './bm25.ts';

/** @spec tool-40 */
const RESULTS_DEFAULT = 5;
const RESULTS_MAX = 50;
const PATTERN_CHARS_MAX = 200;
/** Of what is said of one tool; a longer description is not read to its end. */
const TEXT_CHARS_MAX = 10_000;
/** Of what is said of all tools of a request together. */
const TEXTS_CHARS_MAX = 1_000_000;
/** A search by words takes a sentence. */
const WORDS_CHARS_MAX = 500;
/** A search over all tools. It blocks the process, so it is short. */
const SEARCH_MS_MAX = 50;
/** Of one search. */
const TRIES_MAX = 3;

const VENDOR_TYPE = /^tool_search_tool_(regex|bm25)(?:_\d+)?$/;

const parameters = z.strictObject({
  max_results: z.int().min(1).max(RESULTS_MAX).nullish(),
  method: z.enum(['regex', 'bm25']).nullish(),
});
const query = z.object({
  query: z
    .string()
    .min(1)
    .max(PATTERN_CHARS_MAX)
    .describe('A regular expression; case does not count. Names, descriptions and arguments of tools are searched.'),
});
const words = z.object({
  query: z
    .string()
    .min(1)
    .max(WORDS_CHARS_MAX)
    .describe('What the tool should do, in words. Names, descriptions and arguments of tools are searched.'),
});

/**
 * Finds tools that the caller marked `defer_loading`, so that a model need not read what it has no use for. What was found
 * is offered from the next turn on. @spec tool-40
 */
export const toolSearch: ServerTool<typeof parameters, typeof query | typeof words> = {
  type: 'service:tool_search',
  summary: 'Finds tools whose loading was deferred.',
  parameters,
  findsHiddenTools: true,
  readNativeTool({ type }) {
    // The responses format's, whose vendor searches by itself.
    if (type === 'tool_search') return {};
    const method = typeof type === 'string' ? VENDOR_TYPE.exec(type)?.[1] : undefined;
    return method === undefined ? undefined : { method };
  },
  describe: ({ method }) => ({
    description:
      method === 'bm25'
        ? 'Finds further tools by words, the best first. Those that are found can be called afterwards.'
        : 'Finds further tools by a regular expression. Those that are found can be called afterwards.',
    arguments: method === 'bm25' ? words : query,
  }),
  open({ max_results: resultsMax, method }, { request }) {
    const tools = request.tools.filter(isDeferred);
    const charsMax = Math.min(TEXT_CHARS_MAX, Math.floor(TEXTS_CHARS_MAX / Math.max(1, tools.length)));
    const texts = tools.map((tool) => textOf(tool, charsMax));
    let ranking: Ranking | undefined;
    return {
      run: ({ input }) => {
        if (method === 'bm25')
          ranking ??= createRanking(tools.map(({ name }, at) => ({ name, text: texts[at] ?? '' })));
        const found = ranking === undefined ? search(input.query, texts) : ranking.find(input.query);
        if (typeof found === 'string') return Promise.resolve(failedOutcome(found, 'invalid_tool_input'));
        const names = found.flatMap((at) => tools[at]?.name ?? []).slice(0, resultsMax ?? RESULTS_DEFAULT);
        return Promise.resolve({ result: { tools: names }, reveals: names });
      },
    };
  },
};

function isDeferred(tool: Tool): tool is FunctionTool {
  return tool.type === 'function' && tool.extra?.fields['defer_loading'] === true;
}

function textOf({ name, description = '', parameters: schema }: FunctionTool, charsMax: number): string {
  const searchable = [name, description, ...namesIn(schema)].join('\n');
  return searchable.slice(0, charsMax);
}

/** Names and descriptions of arguments. */
function namesIn(schema: JsonObject | undefined): readonly string[] {
  const properties = schema?.['properties'];
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]) => {
    const description = isJsonObject(property) ? property['description'] : undefined;
    return typeof description === 'string' ? [name, description] : [name];
  });
}

const SEARCH = new Script('texts.flatMap((text, at) => (new RegExp(pattern, "i").test(text) ? [at] : []))');

/** Indexes of the texts, or why there are none. A pattern that takes long in spite of all rules is cut off. */
function search(pattern: string, texts: readonly string[]): readonly number[] | string {
  const fault = faultOfPattern(pattern);
  if (fault !== undefined) return `The pattern ${fault}.`;
  for (let tries = 1; ; tries++) {
    const started = process.threadCpuUsage();
    try {
      const found: unknown = SEARCH.runInContext(createContext({ texts: [...texts], pattern }), {
        timeout: SEARCH_MS_MAX,
      });
      return Array.isArray(found) ? found.filter((at) => typeof at === 'number') : [];
    } catch {
      // The limit counts time of the clock: on a busy machine the thread may have had no processor for all of it.
      const { user, system } = process.threadCpuUsage(started);
      const ranMs = (user + system) / 1_000;
      if (ranMs > SEARCH_MS_MAX / 2 || tries === TRIES_MAX) return 'The pattern takes too long.';
    }
  }
}
