import type { FormatId, OperationFormatId } from '../canonical/extra.ts';
import type { EmbeddingsFacts, OperationKind } from '../canonical/operation.ts';
import type { ImageFacts } from '../canonical/image.ts';
import type { RerankFacts } from '../canonical/rerank.ts';
import type { VideoFacts } from '../canonical/video.ts';
import { VIDEO_MODELS } from './videos.ts';
import type { SpeechFacts } from '../canonical/speech.ts';
import { TRANSCRIPT_FORMATS, type TranscriptionFacts } from '../canonical/transcription.ts';
import { DECIDE } from './decide.ts';
import { EMBED } from './embeddings.ts';
import { IMAGE, SANDBOX_PIXELS_MAX } from './images.ts';
import { RERANK } from './rerank.ts';
import { SANDBOX_SPEECH_FORMATS, SANDBOX_VOICES, SPEECH } from './speech.ts';
import { TRANSCRIBE } from './transcribe.ts';

/** What the sandbox answers with. The value is the upstream name of the model. */
export type Behaviour = 'echo' | 'tools' | 'json' | 'judge' | 'reasoning' | 'slow' | 'long' | 'error' | 'cut' | 'stall';

/** One model of the sandbox in the shape of a catalog model with its one endpoint. Free (@spec catalog-19). */
export interface SandboxModel {
  /** `sandbox/echo`. */
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly contextTokensMax: number;
  readonly simulated: true;
  readonly endpoints: readonly [SandboxEndpoint];
}

interface SandboxEndpoint {
  readonly model: string;
  readonly provider: 'sandbox';
  readonly providerName: string;
  /** The sandbox's own name of the model: `echo`. */
  readonly upstreamModel: string;
  readonly price: { readonly prompt: 0; readonly completion: 0 };
  readonly contextTokensMax: number;
  readonly outputTokensMax: number;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  /** It keeps nothing but hashes of prompt prefixes. */
  readonly dataPolicy: { readonly training: false; readonly retentionDays: 0 };
  readonly formats: readonly FormatId[];
  /** Requests besides generations that it serves. */
  readonly offers?: Readonly<Partial<Record<OperationKind, OperationFormatId>>>;
  readonly embeddings?: EmbeddingsFacts;
  readonly video?: VideoFacts;
  readonly transcription?: TranscriptionFacts;
  readonly speech?: SpeechFacts;
  readonly rerank?: RerankFacts;
  readonly image?: ImageFacts;
  readonly cancellable: true;
}

/** A prompt with more tokens gets the vendors' error for it. */
export const CONTEXT_TOKENS_MAX = 1_000_000;
/** An answer is cut there with the finish reason for length. */
export const OUTPUT_TOKENS_MAX = 65_536;

/** Statuses that the catalog lists as models of their own; the sandbox itself takes every one from 400 to 599. */
const LISTED_ERROR_STATUSES = [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 524, 529];

const BEHAVIOURS: readonly { readonly model: string; readonly name: string; readonly description: string }[] = [
  { model: 'echo', name: 'Echo', description: 'Answers with the last user text; names images and files in brackets.' },
  {
    model: 'tools',
    name: 'Tools',
    description:
      'Calls the first offered function, or all of them when the user text holds "parallel", with arguments that are valid for its schema; answers from the results.',
  },
  { model: 'json', name: 'JSON', description: 'Answers with JSON that is valid for the requested schema.' },
  {
    model: 'judge',
    name: 'Judge',
    description: 'A chat model that judges questions: options whose names stand in the state are more likely.',
  },
  { model: 'reasoning', name: 'Reasoning', description: 'Reasons first, then answers with the last user text.' },
  { model: 'slow', name: 'Slow', description: 'Echo with a late first token: `ms=2000` in the user text.' },
  {
    model: 'long',
    name: 'Long',
    description: 'Counts upwards at a pace: `tokens=200 every=20` (ms) in the user text.',
  },
  { model: 'cut', name: 'Cut', description: 'The connection breaks half way, or after `after=3` tokens.' },
  { model: 'stall', name: 'Stall', description: 'Falls silent before the first token, or after `after=3` tokens.' },
];

/** Every model that the catalog lists. */
export function sandboxModels(): readonly SandboxModel[] {
  const errors = LISTED_ERROR_STATUSES.map((status) => ({
    model: `error-${status}`,
    name: `Error ${status}`,
    description: `Answers with status ${status}; a stream with \`after=3\` in the user text fails after so many tokens.`,
  }));
  return BEHAVIOURS.map(conversational).concat(
    errors.map(failing),
    embedder(),
    reranker(),
    decider(),
    painter(),
    transcriber(),
    speaker(),
    Object.entries(VIDEO_MODELS).map(videoMaker),
  );
}

function conversational({ model, name, description }: (typeof BEHAVIOURS)[number]): SandboxModel {
  return {
    slug: `sandbox/${model}`,
    name: `Sandbox: ${name}`,
    description,
    contextTokensMax: CONTEXT_TOKENS_MAX,
    simulated: true,
    endpoints: [
      {
        model: `sandbox/${model}`,
        provider: 'sandbox',
        providerName: 'Sandbox',
        upstreamModel: model,
        price: { prompt: 0, completion: 0 },
        contextTokensMax: CONTEXT_TOKENS_MAX,
        outputTokensMax: OUTPUT_TOKENS_MAX,
        inputModalities: ['text', 'image', 'file', 'audio', 'video'],
        outputModalities: ['text'],
        dataPolicy: { training: false, retentionDays: 0 },
        formats: ['chat', 'messages'],
        cancellable: true,
      },
    ],
  };
}

const ALL_OFFERS = {
  embeddings: 'embeddings/openai',
  rerank: 'rerank/cohere',
  image: 'image/openai',
  stt: 'stt/openai',
  tts: 'tts/openai',
  video: 'video/xai',
} as const;

/** Fails on every route. */
function failing(facts: (typeof BEHAVIOURS)[number]): SandboxModel {
  const { endpoints, ...model } = conversational(facts);
  const [endpoint] = endpoints;
  const outputModalities = ['text', 'embeddings', 'rerank', 'image', 'transcription', 'speech', 'video'];
  return {
    ...model,
    endpoints: [{ ...endpoint, outputModalities, offers: ALL_OFFERS, speech: { defaultVoice: 'one' } }],
  };
}

function embedder(): SandboxModel {
  const { endpoints, ...model } = conversational({
    model: EMBED,
    name: 'Embed',
    description: 'Makes vectors of the words of a text: equal texts have equal vectors, similar ones close ones.',
  });
  return {
    ...model,
    endpoints: [
      {
        ...endpoints[0],
        inputModalities: ['text', 'image', 'file', 'audio', 'video'],
        outputModalities: ['embeddings'],
        offers: { embeddings: 'embeddings/openai' },
        embeddings: { dimensions: { default: 256, min: 8, max: 4_096 }, maxInputs: 2_048, tokenArrays: true },
      },
    ],
  };
}

function videoMaker([model, description]: readonly [string, string]): SandboxModel {
  const { endpoints, ...rest } = conversational({ model, name: NAMES[model] ?? model, description });
  return {
    ...rest,
    endpoints: [
      {
        ...endpoints[0],
        inputModalities: ['text', 'image'],
        outputModalities: ['video'],
        offers: { video: 'video/xai' },
        video: {
          durations: Array.from({ length: 60 }, (_, at) => at + 1),
          resolutions: ['480p', '720p', '1080p'],
          frames: ['first_frame'],
          references: ['image'],
          generateAudio: false,
          seed: false,
          upscaleFactor: false,
          creativity: [],
          defaultDurationS: 4,
          defaultResolution: '720p',
        },
      },
    ],
  };
}

function reranker(): SandboxModel {
  const { endpoints, ...model } = conversational({
    model: RERANK,
    name: 'Rerank',
    description: 'Orders documents by the words that they share with a query.',
  });
  return {
    ...model,
    endpoints: [
      {
        ...endpoints[0],
        inputModalities: ['text'],
        outputModalities: ['rerank'],
        offers: { rerank: 'rerank/cohere' },
        rerank: { maxDocuments: 10_000 },
      },
    ],
  };
}

function decider(): SandboxModel {
  const { endpoints, ...model } = conversational({
    model: DECIDE,
    name: 'Decide',
    description: 'Answers questions of /alpha/decisions: options whose names stand in the state are more likely.',
  });
  return {
    ...model,
    endpoints: [
      {
        ...endpoints[0],
        inputModalities: ['text'],
        outputModalities: ['decisions'],
        offers: { decisions: 'decisions/native' },
      },
    ],
  };
}

function painter(): SandboxModel {
  const { endpoints, ...model } = conversational({
    model: IMAGE,
    name: 'Image',
    description: `Paints fields in the colours of a prompt, up to ${SANDBOX_PIXELS_MAX} pixels; \`ms=2000\` in the prompt delays it.`,
  });
  return {
    ...model,
    endpoints: [
      {
        ...endpoints[0],
        inputModalities: ['text', 'image'],
        outputModalities: ['image'],
        offers: { image: 'image/openai' },
        image: {
          nMax: 10,
          resolutions: ['512', '1K'],
          outputFormats: ['png', 'svg'],
          referencesMax: 16,
          mask: true,
          seed: true,
          streaming: true,
        },
      },
    ],
  };
}

const NAMES: Readonly<Record<string, string>> = {
  video: 'Video',
  'video-fail': 'Video that fails',
  'video-moderated': 'Video that is refused',
  'video-stall': 'Video without an end',
  'video-gone': 'Video that is gone',
};

function transcriber(): SandboxModel {
  const { endpoints, ...model } = conversational({
    model: TRANSCRIBE,
    name: 'Transcribe',
    description: 'Hears what sandbox/speech has said; of other sounds it says how long they are.',
  });
  return {
    ...model,
    endpoints: [
      {
        ...endpoints[0],
        inputModalities: ['audio'],
        outputModalities: ['transcription'],
        offers: { stt: 'stt/openai' },
        transcription: { formats: TRANSCRIPT_FORMATS, translates: true },
      },
    ],
  };
}

function speaker(): SandboxModel {
  const { endpoints, ...model } = conversational({
    model: SPEECH,
    name: 'Speech',
    description: 'A tone for each character, paced by `every=40` (ms) in the text; mp3 is silence of that length.',
  });
  return {
    ...model,
    endpoints: [
      {
        ...endpoints[0],
        inputModalities: ['text'],
        outputModalities: ['speech'],
        offers: { tts: 'tts/openai' },
        speech: { voices: SANDBOX_VOICES, defaultVoice: 'one', formats: SANDBOX_SPEECH_FORMATS, maxCharacters: 4_096 },
      },
    ],
  };
}

/** What a model name means, as it is called here or as the gateway calls it; `undefined` for one that does not exist. */
export function findBehaviour(name: string): { readonly behaviour: Behaviour; readonly status?: number } | undefined {
  const model = name.replace(/^sandbox\//, '');
  const error = /^error-([45]\d\d)$/.exec(model);
  if (error !== null) return { behaviour: 'error', status: Number(error[1]) };
  switch (model) {
    case 'echo':
    case 'tools':
    case 'json':
    case 'judge':
    case 'reasoning':
    case 'slow':
    case 'long':
    case 'cut':
    case 'stall':
      return { behaviour: model };
    default:
      return undefined;
  }
}
