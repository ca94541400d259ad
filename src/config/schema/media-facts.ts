import { z } from 'zod';
import { IMAGE_BACKGROUNDS, IMAGE_OUTPUT_FORMATS, IMAGE_QUALITIES, IMAGE_TIERS } from '../../canonical/image.ts';
import { SPEECH_FORMATS } from '../../canonical/speech.ts';
import { TRANSCRIPT_FORMATS } from '../../canonical/transcription.ts';
import { key, requiredKey } from './key.ts';
import { section, text } from './parts.ts';

const COUNT_MAX = 1_000_000_000;
const SIDES = /^\d{2,5}x\d{2,5}$/;
const RATIO = /^\d{1,2}(?:\.\d)?:\d{1,2}(?:\.\d)?$/;

const count = z.int().min(1).max(COUNT_MAX);
const countOrNone = z.int().min(0).max(COUNT_MAX);
const seconds = z.number().positive().max(COUNT_MAX);
const sides = z.array(z.string().regex(SIDES, 'must be a width and a height: "1024x1024"'));
const ratios = z.array(z.string().regex(RATIO, 'must be a ratio: "16:9"'));
/** Unknown excludes nothing. */
const UNKNOWN = { usual: 'what the provider and the catalog say' } as const;

const embeddings = section({
  dimensions: key(
    section({
      default: requiredKey(count, 'Where the request says nothing.', { example: 1_024 }),
      min: key(count, 'The shortest that may be requested.', { ...UNKNOWN, example: 256 }),
      max: key(count, 'The longest.', { ...UNKNOWN, example: 1_024 }),
      values: key(z.array(count).min(1), 'All lengths, where there are but some.', {
        ...UNKNOWN,
        example: [256, 1_024],
      }),
    }),
    'The length of its vectors.',
  ),
  max_inputs: key(count, 'Inputs that one call takes; more are split.', { ...UNKNOWN, example: 32 }),
  max_input_tokens: key(count, 'Tokens of one input.', { ...UNKNOWN, example: 8_192 }),
  max_request_tokens: key(count, 'Tokens of one call; more are split.', { ...UNKNOWN, example: 300_000 }),
  encodings: key(z.array(z.enum(['float', 'base64'])).min(1), 'How it writes vectors, the best first.', {
    ...UNKNOWN,
    example: ['float'],
  }),
  token_arrays: key(z.boolean(), "Whether it reads tokens as its callers' tokenizers count them.", {
    ...UNKNOWN,
    example: false,
  }),
});

const rerank = section({
  max_documents: key(count, 'Documents that one call takes.', { ...UNKNOWN, example: 1_000 }),
  pointwise: key(z.boolean(), 'Whether each document is scored by itself, so that long lists may be split.', {
    ...UNKNOWN,
    example: true,
  }),
  images: key(z.boolean(), 'Whether it reads pictures.', { ...UNKNOWN, example: false }),
});

const image = section({
  n_max: key(count, 'Pictures of one call.', { ...UNKNOWN, example: 4 }),
  sizes: key(sides, 'Sizes in pixels that it makes.', { ...UNKNOWN, example: ['1024x1024'] }),
  resolutions: key(z.array(z.enum(IMAGE_TIERS)), 'Tiers that it makes.', { ...UNKNOWN, example: ['1K', '2K'] }),
  aspect_ratios: key(ratios, 'Ratios that it makes.', { ...UNKNOWN, example: ['1:1', '16:9'] }),
  qualities: key(z.array(z.enum(IMAGE_QUALITIES)), 'Qualities that it knows.', { ...UNKNOWN, example: ['high'] }),
  output_formats: key(z.array(z.enum(IMAGE_OUTPUT_FORMATS)), 'Formats that it writes.', {
    ...UNKNOWN,
    example: ['png'],
  }),
  backgrounds: key(z.array(z.enum(IMAGE_BACKGROUNDS)), 'Backgrounds that it knows.', {
    ...UNKNOWN,
    example: ['opaque'],
  }),
  references_max: key(countOrNone, 'Pictures that it makes others from; 0: none.', { ...UNKNOWN, example: 4 }),
  mask: key(z.boolean(), 'Whether it takes a mask.', { ...UNKNOWN, example: true }),
  seed: key(z.boolean(), 'Whether it takes a seed.', { ...UNKNOWN, example: true }),
  streaming: key(z.boolean(), 'Whether it sends pictures as they are made.', { ...UNKNOWN, example: false }),
  tokens_per_image: key(count, 'Tokens of one picture, the dearest that it makes: what is reserved.', {
    ...UNKNOWN,
    example: 4_160,
  }),
});

const transcription = section({
  formats: key(z.array(z.enum(TRANSCRIPT_FORMATS)).min(1), 'Formats in which it answers.', {
    ...UNKNOWN,
    example: ['json', 'srt'],
  }),
  granularities: key(z.array(z.enum(['word', 'segment'])), 'Of what it gives times.', {
    ...UNKNOWN,
    example: ['segment'],
  }),
  max_bytes: key(count, 'Bytes of a sound.', { ...UNKNOWN, example: 26_214_400 }),
  max_seconds: key(seconds, 'Seconds of a sound.', { ...UNKNOWN, example: 1_500 }),
  min_seconds: key(seconds, 'Seconds that are charged at least.', { ...UNKNOWN, example: 10 }),
  streaming: key(z.boolean(), 'Whether it sends a transcript as it is made.', { ...UNKNOWN, example: false }),
  translates: key(z.boolean(), 'Whether it translates into English.', { ...UNKNOWN, example: true }),
});

const speech = section({
  voices: key(z.array(text).min(1), 'Its voices.', { ...UNKNOWN, example: ['alto'] }),
  default_voice: key(text, 'The voice of requests that name none.', { ...UNKNOWN, example: 'alto' }),
  formats: key(z.array(z.enum(SPEECH_FORMATS)).min(1), 'Formats that it writes.', { ...UNKNOWN, example: ['mp3'] }),
  sample_rate: key(count, 'Samples a second of its pcm and wav.', { ...UNKNOWN, example: 24_000 }),
  max_characters: key(count, 'Characters of a text.', { ...UNKNOWN, example: 4_096 }),
  speed: key(
    section({
      min: requiredKey(seconds, 'The slowest.', { example: 0.5 }),
      max: requiredKey(seconds, 'The fastest.', { example: 2 }),
    }),
    'How fast it may speak.',
  ),
  instructions: key(z.boolean(), 'Whether it obeys words on how to speak.', { ...UNKNOWN, example: false }),
});

const words = z.array(text).min(1);
const video = section({
  durations: key(z.array(count).min(1), 'Seconds of the clips that it makes.', { ...UNKNOWN, example: [4, 8] }),
  resolutions: key(words, 'Resolutions that it makes.', { ...UNKNOWN, example: ['720p', '1080p'] }),
  aspect_ratios: key(words, 'Ratios that it makes.', { ...UNKNOWN, example: ['16:9', '9:16'] }),
  sizes: key(sides, 'Sizes in pixels that it makes.', { ...UNKNOWN, example: ['1280x720'] }),
  frames: key(z.array(z.enum(['first_frame', 'last_frame'])), 'Frames that it takes.', {
    ...UNKNOWN,
    example: ['first_frame'],
  }),
  references: key(z.array(z.enum(['image', 'audio', 'video'])), 'What else it makes clips from.', {
    ...UNKNOWN,
    example: ['image'],
  }),
  generate_audio: key(z.boolean(), 'Whether sound can be turned on and off.', { ...UNKNOWN, example: true }),
  seed: key(z.boolean(), 'Whether it takes a seed.', { ...UNKNOWN, example: true }),
  default_duration_s: key(count, 'Seconds where the request names none.', { ...UNKNOWN, example: 8 }),
  default_resolution: key(text, 'The resolution where the request names none.', { ...UNKNOWN, example: '720p' }),
});

/** What an operator knows of an endpoint that makes no text. */
export const mediaFacts = {
  embeddings: key(embeddings, 'What is known of its vectors.'),
  rerank: key(rerank, 'What is known of how it orders documents.'),
  image: key(image, 'What is known of the pictures that it makes.'),
  stt: key(transcription, 'What is known of how it hears.'),
  tts: key(speech, 'What is known of how it speaks.'),
  video: key(video, 'What is known of the clips that it makes.'),
};
