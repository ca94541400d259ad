import type { SpeechFormat } from '../../canonical/speech.ts';
import type { FinalUsage } from '../format.ts';
import { encodeCost } from '../gateway/cost.ts';

const MEDIA_TYPES: Readonly<Record<Exclude<SpeechFormat, 'pcm'>, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
};

export function mediaTypeOfSpeech(format: SpeechFormat, sampleRate: number): string {
  return format === 'pcm' ? `audio/pcm;rate=${sampleRate};channels=1` : MEDIA_TYPES[format];
}

/** The frame of a piece of sound. @param sound whole groups of three bytes, but for the last */
export function encodeSpeechDelta(sound: Buffer): string {
  return frame({ type: 'speech.audio.delta', audio: sound.toString('base64') });
}

export function encodeSpeechDone(finalUsage: FinalUsage): string {
  const { usage } = finalUsage;
  const { cost, is_byok: isByok } = encodeCost(finalUsage);
  const [input, output] = [usage.promptTokens, usage.completionTokens];
  return frame({
    type: 'speech.audio.done',
    usage: {
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      characters: usage.units?.characters ?? 0,
      cost,
      is_byok: isByok,
    },
  });
}

function frame(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
