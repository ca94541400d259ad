import type { JsonObject } from '../lib/json.ts';
import type { AudioFile } from './audio.ts';
import type { Directives } from './directives.ts';
import type { Extra, Warning } from './extra.ts';

export const TRANSCRIPT_FORMATS = ['json', 'verbose_json', 'text', 'srt', 'vtt', 'diarized_json'] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

export type Granularity = 'word' | 'segment';

/** What is known of a model that hears, at one provider. Absent: unknown, which excludes nothing. */
export interface TranscriptionFacts {
  /** In which it answers. */
  readonly formats?: readonly TranscriptFormat[];
  readonly granularities?: readonly Granularity[];
  readonly maxBytes?: number;
  readonly maxSeconds?: number;
  /** What is charged at least. */
  readonly minSeconds?: number;
  readonly streaming?: boolean;
  /** It translates into English. Absent: it does not. */
  readonly translates?: boolean;
}

/** A request for the text of a sound. */
export interface TranscriptionOperation {
  readonly kind: 'stt';
  readonly delivery: 'whole' | 'stream';
  readonly task: 'transcribe' | 'translate';
  readonly audio: AudioFile;
  readonly responseFormat: TranscriptFormat;
  readonly language?: string;
  readonly prompt?: string;
  readonly temperature?: number;
  readonly granularities: readonly Granularity[];
  readonly hasLogprobs: boolean;
  readonly languages?: readonly string[];
  readonly keywords?: readonly string[];
  /** Clients of the vendor's form refuse a segment without all of its numbers. */
  readonly fillsSegments: boolean;
  /** Members for single providers, by slug. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  /** For the gateway itself, never sent upstream. */
  readonly directives: Directives;
  readonly extra?: Extra;
  readonly warnings: readonly Warning[];
}
