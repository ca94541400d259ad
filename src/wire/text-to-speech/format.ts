import type { OperationFormatId, Warning } from '../../canonical/extra.ts';
import type { UpstreamErrorBody } from '../../canonical/failure/failure.ts';
import type { SpeechFormat, SpeechOperation } from '../../canonical/speech.ts';
import type { JsonObject } from '../../lib/json.ts';

/** Where a text goes. */
export interface SpeechTarget {
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly voice: string;
  /** In which it is to answer: the caller's format, or samples that the gateway gives a head. */
  readonly answersIn: SpeechFormat;
}

export interface EncodedSpeech {
  /** Below the provider's base URL, with the query. */
  readonly path: string;
  readonly body: JsonObject;
  readonly warnings: readonly Warning[];
}

/** Takes sound out of an answer that holds more than sound, while it comes. */
export interface SoundDecoder {
  push(chunk: Uint8Array): Buffer;
  /** Of the sound, where the answer says it. */
  readonly format?: SpeechFormat | undefined;
  readonly sampleRate?: number | undefined;
  /** What else the answer has said. @returns `refused`: why there is no sound, in the vendor's words */
  end(): { readonly refused?: string; readonly promptTokens?: number; readonly completionTokens?: number };
}

/** A format in which upstreams speak. */
export interface UpstreamSpeechFormat {
  readonly id: OperationFormatId;
  /** In which it can answer. */
  readonly formats: readonly SpeechFormat[];
  encode(operation: SpeechOperation, target: SpeechTarget): EncodedSpeech;
  /** Absent: the answer is the sound. */
  readonly createDecoder?: () => SoundDecoder;
  decodeError(text: string): UpstreamErrorBody;
}
