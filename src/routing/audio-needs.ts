import { countCharacters, type SpeechOperation } from '../canonical/speech.ts';
import type { TranscriptFormat, TranscriptionFacts, TranscriptionOperation } from '../canonical/transcription.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { Considered } from './route-plan.ts';

type Lack = Omit<Considered, 'endpoint'> | undefined;

const MS_PER_SECOND = 1_000;
const VOICES_SHOWN_MAX = 40;

/** What a format can be made from, if an endpoint does not have it. Times are never made up. */
const MADE_FROM: Readonly<Partial<Record<TranscriptFormat, readonly TranscriptFormat[]>>> = {
  text: ['verbose_json', 'json'],
  srt: ['verbose_json'],
  vtt: ['verbose_json'],
};

/** In which an endpoint is to answer; `undefined`: there is none from which the wanted one can be made. */
export function transcriptFormatAt(
  { formats }: TranscriptionFacts,
  wanted: TranscriptFormat,
): TranscriptFormat | undefined {
  if (formats === undefined || formats.includes(wanted)) return wanted;
  return MADE_FROM[wanted]?.find((format) => formats.includes(format));
}

export function lackOfTranscription(
  { transcription: facts = {} }: Endpoint,
  { audio, responseFormat, granularities, task }: TranscriptionOperation,
): Lack {
  if (task === 'translate' && facts.translates !== true)
    return value('model', 'has no endpoint that is known to translate');
  if (transcriptFormatAt(facts, responseFormat) === undefined)
    return value('response_format', `must be one of ${(facts.formats ?? []).join(', ')}`);
  const missing = granularities.find((one) => facts.granularities?.includes(one) === false);
  if (missing !== undefined) return value('timestamp_granularities', `"${missing}" is not known to this model`);
  const { maxBytes, maxSeconds } = facts;
  if (maxBytes !== undefined && audio.file.bytes > maxBytes) return value('file', `is larger than ${maxBytes} bytes`);
  if (maxSeconds !== undefined && (audio.durationMs ?? 0) > maxSeconds * MS_PER_SECOND)
    return value('file', `is longer than ${maxSeconds} seconds`);
  return undefined;
}

export function lackOfSpeech({ speech: facts = {} }: Endpoint, operation: SpeechOperation): Lack {
  const { voices, defaultVoice, formats, maxCharacters, speed } = facts;
  const { voice, responseFormat } = operation;
  const shown = voices === undefined ? '' : `: one of ${voices.slice(0, VOICES_SHOWN_MAX).join(', ')}`;
  if (voice === undefined && defaultVoice === undefined) return value('voice', `is required${shown}`);
  if (voice !== undefined && voices?.includes(voice) === false)
    return value('voice', `is not known to this model${shown}`);
  if (formats !== undefined && !canMake(formats, responseFormat))
    return value('response_format', `must be one of ${formats.join(', ')}`);
  if (maxCharacters !== undefined && countCharacters(operation.input) > maxCharacters)
    return { exclusion: 'context_length', lacks: 'input', fault: `is longer than ${maxCharacters} characters` };
  if (
    operation.speed !== undefined &&
    speed !== undefined &&
    (operation.speed < speed.min || operation.speed > speed.max)
  )
    return value('speed', `must be from ${speed.min} to ${speed.max}`);
  return undefined;
}

/** The two exact conversions: a head before samples, and none. */
function canMake(formats: readonly string[], wanted: string): boolean {
  if (formats.includes(wanted)) return true;
  return (wanted === 'wav' && formats.includes('pcm')) || (wanted === 'pcm' && formats.includes('wav'));
}

function value(lacks: string, fault: string): Lack {
  return { exclusion: 'parameter_value', lacks, fault };
}
