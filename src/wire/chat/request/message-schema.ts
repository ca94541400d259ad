import { z } from 'zod';
import { audioData, mediaUrl } from '../../gateway/media/media-fields.ts';

/** It becomes part of a media type. */
const AUDIO_FORMAT = /^[A-Za-z0-9][\w.+-]{0,63}$/;

/** @spec chat-14 */
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
    url: mediaUrl.min(1),
    detail: z.enum(['auto', 'low', 'high', 'original']).nullish(),
  }),
  ...marked,
});

const audioPart = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({
    data: audioData,
    format: z.string().regex(AUDIO_FORMAT, 'must be a word such as "wav"'),
  }),
  ...marked,
});

const videoPart = z.looseObject({
  // `input_video` is the deprecated spelling. @spec chat-10
  type: z.enum(['video_url', 'input_video']),
  video_url: z.looseObject({ url: mediaUrl.min(1) }),
  ...marked,
});

const filePart = z.looseObject({
  type: z.literal('file'),
  file: z
    .looseObject({ file_data: mediaUrl.nullish(), file_id: z.string().nullish(), filename: z.string().nullish() })
    .refine((file) => Boolean(file.file_data) || Boolean(file.file_id), {
      error: 'must have file_data or file_id',
    }),
  ...marked,
});

/** @source the vendor's SDK, openai 7.55 (2026-11), `ChatCompletionContentPartRefusal` */
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
 * One object for all kinds of detail: details of an upstream newer than this file must come back to it unread, so an
 * unknown `type` or `format` is no fault. @spec chat-16
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

const customCall = z.looseObject({
  id: z.string(),
  type: z.literal('custom'),
  custom: z.looseObject({ name: z.string(), input: z.string() }),
});

const name = z.string().nullish();

const assistantMessage = z.looseObject({
  role: z.literal('assistant'),
  content: z.union([z.string(), z.array(assistantPart)]).nullish(),
  name,
  model: z.string().nullish(),
  tool_calls: z.array(z.discriminatedUnion('type', [toolCall, customCall])).nullish(),
  // What came before `tool_calls`: one call, without an id.
  function_call: toolCall.shape.function.nullish(),
  refusal: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning_details: z.array(reasoningDetail).nullish(),
  images: z.array(z.looseObject({ image_url: z.looseObject({ url: mediaUrl.min(1) }) })).nullish(),
  audio: z
    .looseObject({
      id: z.string().nullish(),
      data: audioData.nullish(),
      transcript: z.string().nullish(),
      expires_at: z.int().nullish(),
    })
    .nullish(),
  annotations: z.array(z.looseObject({ type: z.string() })).nullish(),
});

/** The result of a `function_call`. */
const functionMessage = z.looseObject({
  role: z.literal('function'),
  content: textContent.nullable(),
  name: z.string().min(1),
});

/** @spec chat-2, chat-3 */
export const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: textContent, name }),
  z.looseObject({ role: z.literal('developer'), content: textContent, name }),
  z.looseObject({ role: z.literal('user'), content: anyContent, name }),
  assistantMessage,
  z.looseObject({ role: z.literal('tool'), content: anyContent, tool_call_id: z.string().min(1), name }),
  functionMessage,
]);

export type ChatMessage = z.output<typeof message>;
export type ChatAssistantMessage = z.output<typeof assistantMessage>;
export type ChatFunctionMessage = z.output<typeof functionMessage>;
export type ChatCustomCall = z.output<typeof customCall>;
export type ChatToolCall = z.output<typeof toolCall> | ChatCustomCall;
export type ChatContentPart = z.output<typeof assistantPart>;
