import { z } from 'zod';
import { cacheControl } from './message-schema.ts';

/** generation.md 12 "function name, schema name". */
const NAME_CHARS_MAX = 64;
const NAME = /^[a-zA-Z0-9_-]+$/;
const NAME_RULE = 'must consist of letters, digits, "_" and "-"';

export const shortName = z.string().min(1).max(NAME_CHARS_MAX).regex(NAME, { error: NAME_RULE });

/** A JSON Schema, or another object that is not ours to read. */
export const anyObject = z.record(z.string(), z.unknown());

/** generation.md 2.1: the server tools of this endpoint. `bash`, `shell`, `tool_search`, `apply_patch` are not. */
const SERVER_TOOLS = [
  'service:advisor',
  'service:datetime',
  'service:files',
  'service:fusion',
  'service:image_generation',
  'service:mcp',
  'service:experimental__search_models',
  'service:subagent',
  'service:web_fetch',
  'service:web_search',
] as const;

/** Spellings of other interfaces for `service:web_search`. @source generation.md 2.1 item 3 */
const WEB_SEARCH_SHORTHANDS = [
  'web_search',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'web_search_2025_08_26',
] as const;

const functionTool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: shortName,
    description: z.string().nullish(),
    parameters: anyObject.nullish(),
    strict: z.boolean().nullish(),
  }),
  cache_control: cacheControl.nullish(),
});

export const tool = z.discriminatedUnion('type', [
  functionTool,
  z.looseObject({ type: z.enum(SERVER_TOOLS), parameters: anyObject.nullish() }),
  z.looseObject({ type: z.enum(WEB_SEARCH_SHORTHANDS), parameters: anyObject.nullish() }),
]);

/** @source generation.md 2.2 */
export const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string().min(1) }) }),
    z.looseObject({
      type: z.literal('allowed_tools'),
      allowed_tools: z.looseObject({ mode: z.enum(['auto', 'required']), tools: z.array(anyObject) }),
    }),
    z.looseObject({ type: z.enum([...SERVER_TOOLS, ...WEB_SEARCH_SHORTHANDS]) }),
  ]),
]);

export type ChatTool = z.output<typeof tool>;
export type ChatToolChoice = z.output<typeof toolChoice>;

export function isWebSearchShorthand(type: string): boolean {
  return WEB_SEARCH_SHORTHANDS.some((shorthand) => shorthand === type);
}
