import { z } from 'zod';
import type { PluginRequest } from '../../../canonical/directives.ts';
import { MESSAGES_MAX } from '../../gateway/messages-max.ts';
import { gatewayShape, modelSlug } from '../../gateway/directives.ts';
import { stopConditionList } from '../../gateway/stop-conditions.ts';
import { cacheControl, message, systemPrompt } from './content-schema.ts';
import { open, openKinds } from './open-kinds.ts';
import { tool, toolChoice } from './tool-schema.ts';

/** @spec messages-12: `user` of a messages request. */
const USER_CHARS_MAX = 256;
/** @spec messages-11: fallback models of a messages request. */
const FALLBACKS_MAX = 3;
/** @spec messages-3: `temperature`. */
const TEMPERATURE_MAX = 2;
/** @spec messages-9: `task_budget.total`. */
const TASK_BUDGET_TOKENS_MIN = 20_000;

const display = { display: z.enum(['summarized', 'omitted']).nullish() };

/** @spec messages-7; `between_tools`: vendor SDK 1.11 (2026-11), `ThinkingConfigBetweenTools` */
const thinking = z.discriminatedUnion('type', [
  open({ type: z.literal('enabled'), budget_tokens: z.int().min(1), ...display }),
  open({ type: z.literal('disabled') }),
  open({ type: z.literal('adaptive'), ...display }),
  open({ type: z.literal('between_tools') }),
]);

/** @spec messages-9 */
const outputConfig = open({
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  format: open({ type: z.literal('json_schema'), schema: open({}) }).nullish(),
  task_budget: open({
    type: z.literal('tokens'),
    total: z.int().min(TASK_BUDGET_TOKENS_MIN),
    remaining: z.int().min(0).nullish(),
  }).nullish(),
});

const inputTokens = open({ type: z.literal('input_tokens'), value: z.int() });
const toolUses = open({ type: z.literal('tool_uses'), value: z.int() });

/** @spec messages-15 */
const contextManagement = open({
  edits: z
    .array(
      openKinds({
        clear_tool_uses_20250919: open({
          trigger: z.discriminatedUnion('type', [inputTokens, toolUses]).nullish(),
          keep: toolUses.nullish(),
          clear_at_least: inputTokens.nullish(),
          exclude_tools: z.array(z.string()).nullish(),
          clear_tool_inputs: z.union([z.boolean(), z.array(z.string())]).nullish(),
        }),
        clear_thinking_20251015: open({
          keep: z
            .union([
              z.literal('all'),
              z.discriminatedUnion('type', [
                open({ type: z.literal('thinking_turns'), value: z.int() }),
                open({ type: z.literal('all') }),
              ]),
            ])
            .nullish(),
        }),
        compact_20260112: open({
          trigger: inputTokens.nullish(),
          instructions: z.string().nullish(),
          pause_after_compaction: z.boolean().nullish(),
        }),
      }),
    )
    .nullish(),
});

/**
 * What a prompt is made of: shared by requests for a response and by requests to count its tokens. A member that is not
 * nullable refuses null, any other takes it as absent (@spec request-13).
 */
const promptShape = {
  model: modelSlug.optional(),
  messages: z.array(message).min(1).max(MESSAGES_MAX),
  system: systemPrompt.nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: thinking.nullish(),
  output_config: outputConfig.nullish(),
  context_management: contextManagement.nullish(),
  cache_control: cacheControl.optional(),
  speed: z.enum(['fast', 'standard']).nullish(),
  metadata: open({ user_id: z.string().nullish() }).nullish(),
  user: z.string().max(USER_CHARS_MAX).optional(),
};

const requestShape = {
  ...promptShape,
  max_tokens: z.int().min(1).optional(),
  temperature: z.number().min(0).max(TEMPERATURE_MAX).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  stream: z.boolean().nullish(),
  service_tier: z.string().nullish(),
  // One condition alone is the chat format's liberty.
  stop_server_tools_when: stopConditionList.optional(),
  fallbacks: z
    .array(z.strictObject({ model: modelSlug }))
    .max(FALLBACKS_MAX)
    .nullish(),
};

/** Members of the body that this format reads; a member that is neither here nor the gateway's own passes through. */
export const REQUEST_MEMBERS: ReadonlySet<string> = new Set([
  ...Object.keys(requestShape),
  // A cloud's spelling of the version header. @spec messages-14
  'anthropic_version',
]);

/** Body of `POST /messages`. @spec messages-1 */
export function createRequestSchema(options: { readonly plugin: z.ZodType<PluginRequest> }) {
  return open({ ...gatewayShape(options), ...requestShape }).check((context) => {
    const { fallbacks, models } = context.value;
    if (fallbacks !== undefined && fallbacks !== null && models !== undefined)
      context.issues.push({
        code: 'custom',
        path: ['fallbacks'],
        message: 'cannot be combined with models',
        input: fallbacks,
      });
  });
}

/** Body of `POST /messages/count_tokens`. @spec messages-35 */
export const countTokensSchema = open(promptShape);

export type MessagesRequest = z.output<ReturnType<typeof createRequestSchema>>;
/** The members that a prompt is decoded from, in either body. */
export type PromptFields = z.output<z.ZodObject<typeof promptShape>>;
