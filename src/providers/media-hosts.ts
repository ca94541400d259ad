import { failureOfMeaning, MEANINGS } from '../canonical/failure/failure-meaning.ts';
import { REFUSAL_WORDS } from '../wire/operations/job.ts';
import type { KindOffer, ProviderAdapter } from './contract.ts';

/** A vendor of pictures, clips or sound alone, in forms of its own. */
interface MediaHost extends Pick<ProviderAdapter, 'id' | 'name' | 'ownHosts'> {
  readonly baseUrl: string;
  readonly apiKeyVariable: string;
  /** The header of its key, and what stands before the key in it. */
  readonly keyHeader?: string;
  readonly keyPrefix?: string;
  /** Further headers of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly offers: readonly KindOffer[];
}

/** Refusals of their filters come with statuses of bad requests, and in words that all of them use. */
const REFUSING: ReadonlySet<number> = new Set([400, 403, 422, 451]);

function createMediaAdapter({
  keyHeader = 'authorization',
  keyPrefix = 'Bearer ',
  headers,
  ...host
}: MediaHost): ProviderAdapter {
  return {
    ...host,
    formats: [],
    checkPath: false,
    dialect: () => ({}),
    authorize: ({ settings: { apiKey } }) =>
      apiKey === undefined ? { ...headers } : { ...headers, [keyHeader]: keyPrefix + apiKey },
    classify: ({ status, error }) =>
      REFUSING.has(status) && REFUSAL_WORDS.test(`${error.code ?? ''} ${error.type ?? ''}`)
        ? failureOfMeaning(MEANINGS.refused)
        : undefined,
  };
}

const WHOLE = { mask: false, streaming: false, seed: true } as const;
const PNG_OR_JPEG = { ...WHOLE, outputFormats: ['png', 'jpeg'] } as const;

/** Each model calls further pictures by a name of its own. */
const FIRST_FRAME = {
  frames: ['first_frame'],
  references: [],
  seed: true,
  upscaleFactor: false,
  creativity: [],
} as const;

export const MEDIA_HOSTS = {
  // docs.bfl.ml "Integration guidelines"; black-forest-labs/skills, `bfl-api/SKILL.md`; both read 2026-11: hosts of regions, and
  // how many pictures each model reads.
  'black-forest-labs': createMediaAdapter({
    id: 'black-forest-labs',
    name: 'Black Forest Labs',
    baseUrl: 'https://api.bfl.ai/v1',
    ownHosts: /^(?:[\w-]+\.)*bfl\.ai$/,
    apiKeyVariable: 'BFL_API_KEY',
    keyHeader: 'x-key',
    keyPrefix: '',
    offers: [
      {
        kind: 'image',
        format: 'image/bfl',
        models: /^flux-2-klein/,
        image: { ...PNG_OR_JPEG, nMax: 1, referencesMax: 4 },
      },
      { kind: 'image', format: 'image/bfl', models: /^flux-2/, image: { ...PNG_OR_JPEG, nMax: 1, referencesMax: 8 } },
      { kind: 'image', format: 'image/bfl', models: /kontext/, image: { ...PNG_OR_JPEG, nMax: 1, referencesMax: 4 } },
      { kind: 'image', format: 'image/bfl', image: { ...PNG_OR_JPEG, nMax: 1, referencesMax: 0 } },
    ],
  }),
  // fal.ai/docs "Inference API", read 2026-11.
  fal: createMediaAdapter({
    id: 'fal',
    name: 'fal',
    baseUrl: 'https://queue.fal.run',
    apiKeyVariable: 'FAL_KEY',
    keyPrefix: 'Key ',
    offers: [
      { kind: 'image', format: 'image/fal', image: { ...PNG_OR_JPEG, nMax: 4 } },
      { kind: 'video', format: 'video/fal', video: FIRST_FRAME, cancels: true },
    ],
  }),
  // replicate.com/docs "HTTP API", read 2026-11.
  replicate: createMediaAdapter({
    id: 'replicate',
    name: 'Replicate',
    baseUrl: 'https://api.replicate.com/v1',
    apiKeyVariable: 'REPLICATE_API_TOKEN',
    offers: [
      {
        kind: 'image',
        format: 'image/replicate',
        image: { ...WHOLE, nMax: 4, resolutions: ['1K'], outputFormats: ['png', 'jpeg', 'webp'], referencesMax: 1 },
      },
      { kind: 'video', format: 'video/replicate', video: FIRST_FRAME, cancels: true },
    ],
  }),
  // assemblyai.com/docs "Transcribe an audio file", read 2026-11: the key stands alone in its header.
  assemblyai: createMediaAdapter({
    id: 'assemblyai',
    name: 'AssemblyAI',
    baseUrl: 'https://api.assemblyai.com/v2',
    ownHosts: /^api\.(?:eu\.)?assemblyai\.com$/,
    apiKeyVariable: 'ASSEMBLYAI_API_KEY',
    keyPrefix: '',
    offers: [
      {
        kind: 'stt',
        format: 'stt/assemblyai',
        transcription: { formats: ['json', 'verbose_json', 'diarized_json'], streaming: false },
      },
    ],
  }),
  // @runwayml/sdk 4.20, `client.ts` (2026-11): the version of the API is a header that it demands.
  runway: createMediaAdapter({
    id: 'runway',
    name: 'Runway',
    baseUrl: 'https://api.dev.runwayml.com/v1',
    apiKeyVariable: 'RUNWAYML_API_SECRET',
    headers: { 'x-runway-version': '2024-11-06' },
    offers: [
      {
        kind: 'video',
        format: 'video/runway',
        video: {
          frames: ['first_frame', 'last_frame'],
          references: [],
          seed: true,
          upscaleFactor: false,
          creativity: [],
        },
        cancels: true,
      },
    ],
  }),
} satisfies Readonly<Record<string, ProviderAdapter>>;
