import type { JsonObject } from '../lib/json.ts';

/** The wire formats that callers speak. */
export type ClientFormatId = 'chat' | 'messages' | 'responses';

/**
 * The ids of the wire formats, as member names. Each format declares its own in `wire/<format>/dialect.ts`, by declaration
 * merging, so that a new format needs no entry here.
 */
export interface WireFormats {}

/** A wire format that callers or upstreams speak: one folder under `wire/`. */
export type FormatId = keyof WireFormats;

/** A format for requests that are no generation: one folder under `wire/<kind>/`. */
export type OperationFormatId =
  | 'decisions/native'
  | 'embeddings/openai'
  | 'embeddings/gemini'
  | 'embeddings/cohere'
  | 'embeddings/bedrock'
  | 'embeddings/vertex'
  | 'embeddings/vertex-content'
  | 'embeddings/voyage'
  | 'rerank/cohere'
  | 'rerank/tei'
  | 'rerank/voyage'
  | 'rerank/bedrock'
  | 'rerank/deepinfra'
  | 'image/openai'
  | 'image/gemini'
  | 'image/chat'
  | 'image/stability'
  | 'image/bfl'
  | 'image/fal'
  | 'image/replicate'
  | 'image/fireworks'
  | 'stt/openai'
  | 'stt/deepgram'
  | 'stt/elevenlabs'
  | 'stt/gemini'
  | 'stt/assemblyai'
  | 'tts/openai'
  | 'tts/elevenlabs'
  | 'tts/deepgram'
  | 'tts/gemini'
  | 'tts/mistral'
  | 'video/veo'
  | 'video/vertex-veo'
  | 'video/xai'
  | 'video/fal'
  | 'video/replicate'
  | 'video/runway';

export type AnyFormatId = FormatId | OperationFormatId;

/**
 * Passthrough fields: members of a wire object that the canonical model does not name. They stay on their node and go
 * back only into the format that they came from.
 */
export interface Extra {
  readonly format: AnyFormatId;
  readonly fields: JsonObject;
}

/** Something that was dropped or changed on the way, kept as data: it goes to the log, the record and the metadata. */
export interface Warning {
  readonly code:
    | 'field-dropped'
    | 'field-changed'
    | 'content-dropped'
    | 'event-skipped'
    | 'answer-rescued'
    | 'filter-matched'
    | 'price-unknown'
    | 'unstable_order'
    | 'usage-implausible'
    | 'budget_reached'
    | 'budget_unknown';
  /** The path in the caller's request: `tools[0].strict`. */
  readonly path: string;
  readonly message: string;
}
