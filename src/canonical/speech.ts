import type { JsonObject } from '../lib/json.ts';
import type { Directives } from './directives.ts';
import type { Extra, Warning } from './extra.ts';

export const SPEECH_FORMATS = ['pcm', 'mp3', 'wav', 'opus', 'flac', 'aac'] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** What is known of a model that speaks, at one provider. Absent: unknown, which excludes nothing. */
export interface SpeechFacts {
  readonly voices?: readonly string[];
  readonly defaultVoice?: string;
  readonly formats?: readonly SpeechFormat[];
  /** Of its pcm and wav. */
  readonly sampleRate?: number;
  readonly maxCharacters?: number;
  readonly speed?: { readonly min: number; readonly max: number };
  readonly instructions?: boolean;
}

/** A request for a text to be spoken. */
export interface SpeechOperation {
  readonly kind: 'tts';
  readonly delivery: 'stream';
  readonly input: string;
  /** Absent: the model's own. */
  readonly voice?: string;
  readonly responseFormat: SpeechFormat;
  readonly speed?: number;
  readonly instructions?: string;
  /** How the sound reaches the caller: as its bytes, or in events. */
  readonly streamFormat: 'audio' | 'sse';
  /** Members for single providers, by slug. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  /** For the gateway itself, never sent upstream. */
  readonly directives: Directives;
  readonly extra?: Extra;
  readonly warnings: readonly Warning[];
}

/** Code points, by which speech is charged. */
export function countCharacters(text: string): number {
  return Array.from(text).length;
}
