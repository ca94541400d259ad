import type { Dialect } from '../../wire/format.ts';
import type { ProviderAdapter } from '../contract.ts';
import { effortsOf, doesReason, isChat, readName } from './model-name.ts';
import { parametersOf } from './parameters.ts';
import { responsesDialectOf } from './responses-dialect.ts';

// Families that do not reason: they refuse `reasoning_effort`. Every later family reasons. Model list of the vendor's
// SDK, openai 7.55 (2026-11).
const NO_REASONING = /^(?:ft:)?(?:gpt-3|gpt-4|gpt-audio|chatgpt-)|-chat-latest$/;
// The o-series from `o1` on and gpt-5 onwards rank `developer` above `user`; elsewhere `system` says the same.
const KNOWS_DEVELOPER = /^(?:ft:)?(?:o\d|gpt-(?:[5-9]|[1-9]\d))/;
// "Supported for gpt-5.6 and later models": `prompt_cache_options` in the vendor's SDK, openai 7.55 (2026-11).
const KNOWS_CACHE_BREAKPOINTS = /^(?:ft:)?gpt-(?:5\.(?:[6-9]|[1-9]\d)|[6-9]|[1-9]\d)/;
// The vendor's table of image details names `original` for GPT-5.4 and 5.5 and for no other model of its time: quoted in
// simonw/llm#1418 (2026-04). Later families are taken to keep it, small ones (unnamed there) not to have it.
const KNOWS_ORIGINAL_DETAIL = /^(?:ft:)?gpt-(?:5\.(?:[4-9]|[1-9]\d)|[6-9]|[1-9]\d)(?!.*-(?:mini|nano))/;

// "This model is only supported in v1/responses": the pro, codex and deep research models, and the one that uses a
// computer. developers.openai.com "Models", read 2026-11.
const RESPONSES_ONLY = /^(?:ft:)?(?:o\d|gpt-\d+(?:\.\d+)?)(?:-mini)?-(?:pro|codex|deep-research)|^codex-|^computer-use/;

/** A file may have 25 MB: openai 7.55, `audio.transcriptions`, and the vendor's page "Speech to text". */
const HEARD = { maxBytes: 26_214_400 } as const;

/** openai 7.55, `ImageGenerateParams` and `ImageEditParams` (2026-11). There is no seed. */
const PICTURES = { nMax: 10, mask: true, seed: false, streaming: true } as const;

/** OpenAI itself. Not for hosts that merely speak its format: those are `openai-compatible`. */
export const openAiAdapter: ProviderAdapter = {
  id: 'openai',
  name: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  apiKeyVariable: 'OPENAI_API_KEY',
  formats: [{ format: 'chat' }, { format: 'responses' }],
  formatsOf: (model) => (RESPONSES_ONLY.test(model) ? ['responses'] : ['chat', 'responses']),
  // Its callers count with its own tokenizer. openai 7.55, `EmbeddingCreateParams` (2026-11).
  offers: [
    { kind: 'embeddings', format: 'embeddings/openai', facts: { maxInputs: 2_048, tokenArrays: true } },
    // "Supported formats depend on the model": openai 7.55, `TranscriptionCreateParams.response_format`; whisper ignores `stream`.
    {
      kind: 'stt',
      format: 'stt/openai',
      models: /^whisper-/,
      transcription: { ...HEARD, translates: true, streaming: false },
    },
    {
      kind: 'stt',
      format: 'stt/openai',
      models: /-diarize/,
      transcription: { ...HEARD, formats: ['json', 'text', 'diarized_json'], granularities: [] },
    },
    { kind: 'stt', format: 'stt/openai', transcription: { ...HEARD, formats: ['json'], granularities: [] } },
    {
      kind: 'image',
      format: 'image/openai',
      models: /^(?:chat)?gpt-image/,
      image: { ...PICTURES, referencesMax: 16 },
    },
    { kind: 'tts', format: 'tts/openai', speech: { maxCharacters: 4_096, sampleRate: 24_000 } },
  ],
  // @spec money-18: hanging up stops the meter.
  cancellable: true,
  toolFormatsOf: (model) => (refusesToolsInChat(model) ? ['responses'] : undefined),
  // What the responses format adds no chat encoder reads, but for the efforts.
  dialect: ({ format, model }) => ({
    ...responsesDialectOf(model),
    ...dialectOf(model),
    ...(format === 'chat' && chatEffortsOf(model)),
  }),
  authorize: ({ settings }) => (settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` }),
};

/**
 * "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses
 * instead" (pipecat-ai/pipecat#4043, 2026-03). Since 5.6 a default effort counts, too (BerriAI/litellm#34569, 2026-07),
 * and not all later models have the effort `none` that would help: "GPT-6 Astra and GPT-6.1 Sol require Responses for
 * tool calling", developers.openai.com "Deployment checklist", read 2026-11.
 */
function refusesToolsInChat(model: string): boolean {
  const name = readName(model);
  return name !== undefined && name.generation >= 5.04 && !isChat(name.variant);
}

/** `max` is for the responses format alone: livekit/agents#7169 (2026-09), BerriAI/litellm-docs#1173 (2026-09). */
function chatEffortsOf(model: string): Pick<Dialect, 'reasoningEfforts'> {
  const name = readName(model);
  if (name === undefined || !doesReason(name)) return {};
  return { reasoningEfforts: effortsOf(name).filter((effort) => effort !== 'max') };
}

function dialectOf(model: string): Dialect {
  const knowsBreakpoints = KNOWS_CACHE_BREAKPOINTS.test(model);
  const { refused = [], ...facts } = parametersOf(model);
  return {
    developerRole: KNOWS_DEVELOPER.test(model),
    // `max_tokens` is deprecated everywhere and refused by the o-series.
    maxCompletionTokens: true,
    reasoningSettings: NO_REASONING.test(model) ? 'none' : 'reasoning_effort',
    // `user` is deprecated in favour of it: vendor's SDK, openai 7.55 (2026-11).
    endUserMember: 'safety_identifier',
    messageNames: true,
    plainMessages: true,
    strictSchemas: true,
    // "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40".
    callIds: 'forty',
    streamUsage: true,
    ...facts,
    refused: new Set([...refused, ...(knowsBreakpoints ? [] : ['prompt_cache_options'])]),
    ...(KNOWS_ORIGINAL_DETAIL.test(model) && { originalDetail: true }),
    ...(knowsBreakpoints && { cacheBreakpoints: 'prompt_cache_breakpoint' }),
  };
}
