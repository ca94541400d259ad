import { z } from 'zod';

/** @source generation.md 1.2 `cache_control`, `prompt_cache_breakpoint` */
export const cacheControl = z.looseObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() });
const cacheBreakpoint = z.looseObject({ mode: z.literal('explicit') });

const marked = { cache_control: cacheControl.nullish() };

const textPart = z.looseObject({
  type: z.literal('text'),
  text: z.string(),
  ...marked,
  prompt_cache_breakpoint: cacheBreakpoint.nullish(),
});

const imagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({
    url: z.string().min(1),
    detail: z.enum(['auto', 'low', 'high', 'original']).nullish(),
  }),
  ...marked,
});

const audioPart = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({ data: z.string(), format: z.string().min(1) }),
  ...marked,
});

const videoPart = z.looseObject({
  // `input_video` is the deprecated spelling. generation.md 1.2
  type: z.enum(['video_url', 'input_video']),
  video_url: z.looseObject({ url: z.string().min(1) }),
  ...marked,
});

const filePart = z.looseObject({
  type: z.literal('file'),
  file: z
    .looseObject({ file_data: z.string().nullish(), file_id: z.string().nullish(), filename: z.string().nullish() })
    .refine((file) => Boolean(file.file_data) || Boolean(file.file_id), {
      error: 'must have file_data or file_id',
    }),
  ...marked,
});

/** Not in generation.md: the vendor's SDK, openai 7.55 (2026-11), `ChatCompletionContentPartRefusal`. */
const refusalPart = z.looseObject({ type: z.literal('refusal'), refusal: z.string() });

const parts = [textPart, imagePart, audioPart, videoPart, filePart] as const;
const contentPart = z.discriminatedUnion('type', [...parts]);
const assistantPart = z.discriminatedUnion('type', [...parts, refusalPart]);
const textContent = z.union([z.string(), z.array(textPart)]);
const anyContent = z.union([z.string(), z.array(contentPart)]);

const REQUIRED_OF_DETAIL: ReadonlyMap<string, readonly string[]> = new Map([
  ['reasoning.summary', ['summary']],
  ['reasoning.encrypted', ['data']],
  ['reasoning.server_tool_call', ['tool_name', 'arguments', 'result']],
]);

/**
 * One object for all kinds of detail: what an upstream newer than this file says must come back to it unread, so an
 * unknown `type` or `format` is no fault. @source generation.md 1.4
 */
const reasoningDetail = z
  .looseObject({ type: z.string(), index: z.int().nullish(), id: z.string().nullish(), format: z.string().nullish() })
  .superRefine((detail, context) => {
    for (const member of REQUIRED_OF_DETAIL.get(detail.type) ?? []) {
      if (typeof detail[member] !== 'string')
        context.addIssue({ code: 'invalid_type', expected: 'string', path: [member], input: detail[member] });
    }
  });

const toolCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const name = z.string().nullish();

const assistantMessage = z.looseObject({
  role: z.literal('assistant'),
  content: z.union([z.string(), z.array(assistantPart)]).nullish(),
  name,
  model: z.string().nullish(),
  tool_calls: z.array(toolCall).nullish(),
  refusal: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning_details: z.array(reasoningDetail).nullish(),
  images: z.array(z.looseObject({ image_url: z.looseObject({ url: z.string().min(1) }) })).nullish(),
  audio: z
    .looseObject({
      id: z.string().nullish(),
      data: z.string().nullish(),
      transcript: z.string().nullish(),
      expires_at: z.int().nullish(),
    })
    .nullish(),
  annotations: z.array(z.looseObject({ type: z.string() })).nullish(),
});

/** @source generation.md 1.1 */
export const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: textContent, name }),
  z.looseObject({ role: z.literal('developer'), content: textContent, name }),
  z.looseObject({ role: z.literal('user'), content: anyContent, name }),
  assistantMessage,
  z.looseObject({ role: z.literal('tool'), content: anyContent, tool_call_id: z.string().min(1), name }),
]);

export type ChatMessage = z.output<typeof message>;
export type ChatAssistantMessage = z.output<typeof assistantMessage>;
export type ChatContentPart = z.output<typeof assistantPart>;
