import { z } from 'zod';
import { cacheControl } from './content-schema.ts';
import { open, pushIssues } from './open-kinds.ts';

const marked = { cache_control: cacheControl.nullish() };
const domains = z.array(z.string()).nullish();
const callers = z.array(z.string()).nullish();
/**
 * The callers that a tool of the vendor's allows. The dates stay open: the vendor's clients send newer ones
 * (vendor SDK 1.11, 2026-11: `code_execution_20260521`).
 */
const vendorCallers = z
  .array(
    z
      .string()
      .regex(
        /^(?:direct|code_execution_\d{8})$/,
        'must be "direct" or a code execution such as "code_execution_20260120"',
      ),
  )
  .nullish();

/** @spec messages-17 */
const clientTool = open({
  name: z.string().min(1),
  description: z.string().nullish(),
  input_schema: open({ type: z.string().optional() }),
  strict: z.boolean().nullish(),
  defer_loading: z.boolean().nullish(),
  eager_input_streaming: z.boolean().nullish(),
  input_examples: z.array(open({})).nullish(),
  allowed_callers: callers,
  ...marked,
});

const webSearch = open({
  name: z.literal('web_search'),
  allowed_domains: domains,
  blocked_domains: domains,
  max_uses: z.int().nullish(),
  user_location: open({
    type: z.literal('approximate'),
    city: z.string().nullish(),
    country: z.string().nullish(),
    region: z.string().nullish(),
    timezone: z.string().nullish(),
  }).nullish(),
  allowed_callers: vendorCallers,
  ...marked,
});

const searchItself = z.literal(false, { error: 'must not be true: the search tool itself cannot be hidden' }).nullish();
const toolSearch = open({ defer_loading: searchItself, allowed_callers: vendorCallers, ...marked });

const VENDOR_TOOLS: Readonly<Record<string, z.ZodType>> = {
  bash_20250124: open({ name: z.literal('bash'), ...marked }),
  text_editor_20250124: open({ name: z.literal('str_replace_editor'), ...marked }),
  web_search_20250305: webSearch,
  web_search_20260209: webSearch,
  advisor_20260301: open({ name: z.literal('advisor'), model: z.string().min(1), ...marked }),
  tool_search_tool_regex: toolSearch,
  tool_search_tool_regex_20251119: toolSearch,
  tool_search_tool_bm25: toolSearch,
  tool_search_tool_bm25_20251119: toolSearch,
};

const SERVICE_PREFIX = 'service:';
const serviceTool = open({ parameters: open({}).nullish(), defer_loading: searchItself });

/** @spec tool-1 */
const SERVICE_TOOLS: ReadonlySet<string> = new Set(
  [
    'web_search',
    'web_fetch',
    'datetime',
    'image_generation',
    'fusion',
    'advisor',
    'subagent',
    'files',
    'experimental__search_models',
    'mcp',
    'bash',
    'shell',
    'tool_search',
  ].map((name) => SERVICE_PREFIX + name),
);

/** A tool without a type, or of type `custom`, is the caller's own function. */
export function isClientTool(tool: { readonly type?: string | null | undefined }): boolean {
  return tool.type === undefined || tool.type === null || tool.type === 'custom';
}

export function isServiceTool(tool: { readonly type?: string | null | undefined }): boolean {
  return tool.type?.startsWith(SERVICE_PREFIX) === true;
}

/** @spec messages-18 */
export const tool = open({ type: z.string().nullish() }).check((context) => {
  const { type } = context.value;
  const refusal = typeof type === 'string' ? refuse(type) : undefined;
  if (refusal !== undefined) {
    context.issues.push({ code: 'custom', path: ['type'], message: refusal, input: type });
    return;
  }
  const shape = shapeOf(type);
  if (shape !== undefined) pushIssues(context, shape);
});

function shapeOf(type: string | null | undefined): z.ZodType | undefined {
  if (isClientTool({ type })) return clientTool;
  if (isServiceTool({ type })) return serviceTool;
  return typeof type === 'string' && Object.hasOwn(VENDOR_TOOLS, type) ? VENDOR_TOOLS[type] : undefined;
}

function refuse(type: string): string | undefined {
  if (type === 'service:apply_patch') return 'is not available on this endpoint';
  if (type.startsWith(SERVICE_PREFIX) && !SERVICE_TOOLS.has(type))
    return `must be one of ${[...SERVICE_TOOLS].map((name) => JSON.stringify(name)).join(', ')}`;
  return undefined;
}

const sequential = { disable_parallel_tool_use: z.boolean().nullish() };

/** @spec messages-23; `allowed_tools` goes with tool search */
export const toolChoice = z.discriminatedUnion('type', [
  open({ type: z.literal('auto'), ...sequential }),
  open({ type: z.literal('any'), ...sequential }),
  open({ type: z.literal('tool'), name: z.string().min(1), ...sequential }),
  open({ type: z.literal('none') }),
  open({ type: z.literal('allowed_tools') }),
]);

export type WireTool = z.output<typeof tool>;
export type WireToolChoice = z.output<typeof toolChoice>;
