import { invalid } from '../../../canonical/gateway-error.ts';
import type { SpeechFormat } from '../../../canonical/speech.ts';
import { decodeError } from '../../upstream-error.ts';
import type { UpstreamSpeechFormat } from '../format.ts';

const SAMPLE_RATE = '24000';
/** Its words for formats. @source developers.deepgram.com "Media Output Settings", read 2026-11 */
const OUTPUT: Readonly<Record<SpeechFormat, Readonly<Record<string, string>>>> = {
  pcm: { encoding: 'linear16', container: 'none', sample_rate: SAMPLE_RATE },
  wav: { encoding: 'linear16', container: 'wav', sample_rate: SAMPLE_RATE },
  mp3: { encoding: 'mp3' },
  opus: { encoding: 'opus', container: 'ogg' },
  flac: { encoding: 'flac' },
  aac: { encoding: 'aac' },
};
/** A model's name ends in its voice and its language: `aura-2-thalia-en`. */
const WITH_VOICE = /-[a-z]{2}(?:-[a-z]{2})?$/;

/** Everything but the text stands in the query, and the voice in the name of the model. @source @deepgram/sdk 5.13, `speak.v1` */
export const deepgramSpeech: UpstreamSpeechFormat = {
  id: 'tts/deepgram',
  formats: ['pcm', 'mp3', 'wav', 'opus', 'flac', 'aac'],
  encode({ input, speed, instructions }, { model, voice, answersIn }) {
    const query = new URLSearchParams({
      model: nameOf(model, voice),
      ...OUTPUT[answersIn],
      ...(speed !== undefined && { speed: String(speed) }),
    });
    return {
      path: `/speak?${query.toString()}`,
      body: { text: input },
      warnings:
        instructions === undefined
          ? []
          : [{ code: 'field-dropped', path: 'instructions', message: 'has no word at this provider' }],
    };
  },
  decodeError,
};

/** @throws GatewayError 400 where model and voice name two voices */
function nameOf(model: string, voice: string): string {
  if (!WITH_VOICE.test(model)) return voice.startsWith(`${model}-`) ? voice : `${model}-${voice}`;
  if (voice === model || model.endsWith(`-${voice}`)) return model;
  throw invalid('voice', `must be "${model}": the name of this model is that of its voice`);
}
