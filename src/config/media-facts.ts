import type { z } from 'zod';
import type { ImageFacts } from '../canonical/image.ts';
import type { EmbeddingsFacts } from '../canonical/operation.ts';
import type { RerankFacts } from '../canonical/rerank.ts';
import type { SpeechFacts } from '../canonical/speech.ts';
import type { TranscriptionFacts } from '../canonical/transcription.ts';
import type { VideoFacts } from '../canonical/video.ts';
import type { mediaFacts } from './schema/media-facts.ts';

/** What an operator knows of an endpoint that makes no text. */
export interface MediaFacts {
  readonly embeddings?: EmbeddingsFacts;
  readonly rerank?: RerankFacts;
  readonly image?: ImageFacts;
  readonly transcription?: TranscriptionFacts;
  readonly speech?: SpeechFacts;
  readonly video?: VideoFacts;
}

type Entry = { readonly [Kind in keyof typeof mediaFacts]?: z.output<(typeof mediaFacts)[Kind]> };

/** Names of the code, and of the file: those that requests of the kind have in records. */
const KINDS = [
  ['embeddings', 'embeddings'],
  ['rerank', 'rerank'],
  ['image', 'image'],
  ['transcription', 'stt'],
  ['speech', 'tts'],
  ['video', 'video'],
] as const satisfies readonly (readonly [keyof MediaFacts, keyof Entry])[];

/** The facts of an entry, under the names of the code. */
export function mediaFactsOf(entry: Entry): MediaFacts;
export function mediaFactsOf(entry: Entry): object {
  return Object.fromEntries(
    KINDS.flatMap(([kind, word]) => (entry[word] === undefined ? [] : [[kind, rename(entry[word], toCamelCase)]])),
  );
}

/** The same in the words of the file. */
export function formatMediaFacts(facts: MediaFacts): object {
  return Object.fromEntries(
    KINDS.flatMap(([kind, word]) => (facts[kind] === undefined ? [] : [[word, rename(facts[kind], toSnakeCase)]])),
  );
}

function rename(facts: object, change: (name: string) => string): object {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]: [string, unknown]) =>
      value === undefined ? [] : [[change(name), value]],
    ),
  );
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_[a-z]/g, (end) => end.slice(1).toUpperCase());
}

function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
