import type { ImageFacts } from '../canonical/image.ts';
import type { EmbeddingsFacts } from '../canonical/operation.ts';
import type { RerankFacts } from '../canonical/rerank.ts';
import type { SpeechFacts } from '../canonical/speech.ts';
import type { TranscriptionFacts } from '../canonical/transcription.ts';
import type { VideoFacts } from '../canonical/video.ts';
import type { EndpointEntry } from './data-schema.ts';
import type { Endpoint } from './model.ts';

type Kind = 'embeddings' | 'rerank' | 'image' | 'transcription' | 'speech' | 'video';
type Entry<Name extends Kind> = NonNullable<EndpointEntry[Name]>;

/** What is known of an endpoint that makes no text, under the names of the code. */
export function kindFactsOf(entry: Pick<EndpointEntry, Kind>): Pick<Endpoint, Kind> {
  const { embeddings, rerank, image, transcription, speech, video } = entry;
  return {
    ...given('embeddings', embeddings && embeddingsOf(embeddings)),
    ...given('rerank', rerank && rerankOf(rerank)),
    ...given('image', image && imageOf(image)),
    ...given('transcription', transcription && transcriptionOf(transcription)),
    ...given('speech', speech && speechOf(speech)),
    ...given('video', video && videoOf(video)),
  };
}

function embeddingsOf(entry: Entry<'embeddings'>): EmbeddingsFacts {
  return {
    ...given('dimensions', entry.dimensions),
    ...given('maxInputs', entry.max_inputs),
    ...given('maxInputTokens', entry.max_input_tokens),
    ...given('maxRequestTokens', entry.max_request_tokens),
    ...given('encodings', entry.encodings),
    ...given('tokenArrays', entry.token_arrays),
  };
}

function transcriptionOf(entry: Entry<'transcription'>): TranscriptionFacts {
  return {
    ...given('formats', entry.formats),
    ...given('granularities', entry.granularities),
    ...given('maxBytes', entry.max_bytes),
    ...given('maxSeconds', entry.max_seconds),
    ...given('minSeconds', entry.min_seconds),
    ...given('streaming', entry.streaming),
    ...given('translates', entry.translates),
  };
}

function speechOf(entry: Entry<'speech'>): SpeechFacts {
  return {
    ...given('voices', entry.voices),
    ...given('defaultVoice', entry.default_voice),
    ...given('formats', entry.formats),
    ...given('sampleRate', entry.sample_rate),
    ...given('maxCharacters', entry.max_characters),
    ...given('speed', entry.speed),
    ...given('instructions', entry.instructions),
  };
}

function rerankOf(entry: Entry<'rerank'>): RerankFacts {
  return {
    ...given('maxDocuments', entry.max_documents),
    ...given('pointwise', entry.pointwise),
    ...given('images', entry.images),
  };
}

function imageOf(entry: Entry<'image'>): ImageFacts {
  return {
    ...given('nMax', entry.n_max),
    ...given('sizes', entry.sizes),
    ...given('resolutions', entry.resolutions),
    ...given('aspectRatios', entry.aspect_ratios),
    ...given('qualities', entry.qualities),
    ...given('outputFormats', entry.output_formats),
    ...given('backgrounds', entry.backgrounds),
    ...given('referencesMax', entry.references_max),
    ...given('mask', entry.mask),
    ...given('seed', entry.seed),
    ...given('streaming', entry.streaming),
    ...given('tokensPerImage', entry.tokens_per_image),
  };
}

function videoOf(entry: Entry<'video'>): VideoFacts {
  return {
    ...given('durations', entry.durations),
    ...given('resolutions', entry.resolutions),
    ...given('aspectRatios', entry.aspect_ratios),
    ...given('sizes', entry.sizes),
    ...given('frames', entry.frames),
    ...given('references', entry.references),
    ...given('generateAudio', entry.generate_audio),
    ...given('seed', entry.seed),
    ...given('defaultDurationS', entry.default_duration_s),
    ...given('defaultResolution', entry.default_resolution),
  };
}

/** A member that may be unknown. */
export function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value };
export function given(name: string, value: unknown): object {
  return value === undefined ? {} : { [name]: value };
}
