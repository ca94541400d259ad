import { createContext, Script } from 'node:vm';
import { z } from 'zod';
import type { FunctionTool, Tool } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { faultOfPattern } from '../../lib/plain-pattern.ts';
import { failedOutcome, type ServerTool } from '../contract.ts';

/** generation.md 5.13, 12. */
const RESULTS_DEFAULT = 5;
const RESULTS_MAX = 50;
const PATTERN_CHARS_MAX = 200;
/** Of what is said of one tool; a longer description is not read to its end. */
const TEXT_CHARS_MAX = 10_000;
/** A search over all tools. It blocks the process, so it is short. */
const SEARCH_MS_MAX = 50;

const VENDOR_TYPE = /^tool_search_tool_regex(?:_\d+)?$/;

const parameters = z.strictObject({ max_results: z.int().min(1).max(RESULTS_MAX).nullish() });
const query = z.object({
  query: z
    .string()
    .min(1)
    .max(PATTERN_CHARS_MAX)
    .describe('A regular expression; case does not count. Names, descriptions and arguments of tools are searched.'),
});

/**
 * Finds tools that the caller marked `defer_loading`, so that a model need not read what it has no use for. What was found
 * is offered from the next turn on. @source generation.md 5.13
 */
export const toolSearch: ServerTool<typeof parameters, typeof query> = {
  type: 'service:tool_search',
  parameters,
  findsHiddenTools: true,
  readVendorTool: ({ type }) => (typeof type === 'string' && VENDOR_TYPE.test(type) ? {} : undefined),
  describe: () => ({
    description: 'Finds further tools by a regular expression. Those that are found can be called afterwards.',
    arguments: query,
  }),
  open({ max_results: resultsMax }, { request }) {
    const tools = request.tools.filter(isDeferred);
    const texts = tools.map(textOf);
    return {
      run: ({ input }) => {
        const found = search(input.query, texts);
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

function textOf({ name, description = '', parameters: schema }: FunctionTool): string {
  const said = [name, description, ...namesIn(schema)].join('\n');
  return said.slice(0, TEXT_CHARS_MAX);
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
  try {
    const found: unknown = SEARCH.runInContext(createContext({ texts: [...texts], pattern }), {
      timeout: SEARCH_MS_MAX,
    });
    return Array.isArray(found) ? found.filter((at) => typeof at === 'number') : [];
  } catch {
    return 'The pattern takes too long.';
  }
}
