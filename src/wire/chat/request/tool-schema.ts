import { z } from 'zod';
import { cacheControl } from './message-schema.ts';

/** @spec chat-21, chat-35 */
const NAME_CHARS_MAX = 64;
const NAME = /^[a-zA-Z0-9_-]+$/;
const NAME_RULE = 'must consist of letters, digits, "_" and "-"';

export const shortName = z.string().min(1).max(NAME_CHARS_MAX).regex(NAME, { error: NAME_RULE });

/** A JSON Schema, or another object that is not ours to read. */
export const anyObject = z.record(z.string(), z.unknown());

/** @spec chat-24: the server tools of this endpoint. `bash`, `shell`, `tool_search`, `apply_patch` are not. */
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

/** Spellings of other interfaces for `service:web_search`. @spec chat-25 */
const WEB_SEARCH_SHORTHANDS = [
  'web_search',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'web_search_2025_08_26',
] as const;

export const functionShape = z.looseObject({
  name: shortName,
  description: z.string().nullish(),
  parameters: anyObject.nullish(),
  strict: z.boolean().nullish(),
});

/** The members of a tool may stand on the entry itself, as the responses format has them. */
function flatOr(member: 'function' | 'custom', shape: z.ZodType): (entry: Entry, context: Issues) => void {
  return (entry, { addIssue }) => {
    if (entry[member] !== undefined) return;
    const { error } = shape.safeParse(entry['name'] === undefined ? undefined : entry);
    for (const { message, path } of error?.issues ?? [])
      addIssue({ code: 'custom', message, path: path.length === 0 ? [member] : [...path] });
  };
}

type Entry = Readonly<Record<string, unknown>>;

interface Issues {
  readonly addIssue: (issue: { code: 'custom'; message: string; path: PropertyKey[] }) => void;
}

const functionTool = z
  .looseObject({
    type: z.literal('function'),
    function: functionShape.optional(),
    cache_control: cacheControl.nullish(),
  })
  .superRefine(flatOr('function', functionShape));

const grammarShape = z.looseObject({ syntax: z.enum(['lark', 'regex']), definition: z.string() });

/** A grammar stands in a member of its own, or, as the responses format has it, beside the type. */
export const customShape = z.looseObject({
  name: shortName,
  description: z.string().nullish(),
  format: z
    .union([
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({ type: z.literal('grammar'), grammar: grammarShape }),
      grammarShape.extend({ type: z.literal('grammar') }),
    ])
    .nullish(),
});

const customTool = z
  .looseObject({ type: z.literal('custom'), custom: customShape.optional(), cache_control: cacheControl.nullish() })
  .superRefine(flatOr('custom', customShape));

export const tool = z.discriminatedUnion('type', [
  functionTool,
  customTool,
  z.looseObject({ type: z.enum(SERVER_TOOLS), parameters: anyObject.nullish() }),
  z.looseObject({ type: z.enum(WEB_SEARCH_SHORTHANDS), parameters: anyObject.nullish() }),
]);

const name = z.string().min(1).optional();
const named = z.looseObject({ name: z.string().min(1) });

/** @spec chat-27 */
export const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.discriminatedUnion('type', [
    z
      .looseObject({ type: z.literal('function'), function: named.optional(), name })
      .superRefine(flatOr('function', named)),
    z.looseObject({ type: z.literal('custom'), custom: named.optional(), name }).superRefine(flatOr('custom', named)),
    z.looseObject({
      type: z.literal('allowed_tools'),
      allowed_tools: z.looseObject({ mode: z.enum(['auto', 'required']), tools: z.array(anyObject) }),
    }),
    z.looseObject({ type: z.enum([...SERVER_TOOLS, ...WEB_SEARCH_SHORTHANDS]) }),
  ]),
]);

/** What the format had before `tools` and `tool_choice`. @source the vendor's SDK, openai 7.55 (2026-11), `functions` */
export const legacyFunctions = z.array(functionShape);
export const legacyChoice = z.union([z.enum(['none', 'auto']), z.looseObject({ name: z.string().min(1) })]);

export type ChatFunctionTool = z.output<typeof functionTool>;
export type ChatCustomTool = z.output<typeof customTool>;
export type ChatTool = z.output<typeof tool>;
export type ChatToolChoice = z.output<typeof toolChoice>;

export function isWebSearchShorthand(type: string): boolean {
  return WEB_SEARCH_SHORTHANDS.some((shorthand) => shorthand === type);
}
