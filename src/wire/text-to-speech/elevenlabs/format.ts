import { invalid } from '../../../canonical/gateway-error.ts';
import type { SpeechFormat } from '../../../canonical/speech.ts';
import { decodeError } from '../../upstream-error.ts';
import type { UpstreamSpeechFormat } from '../format.ts';

/** Its words for formats, the nearest to what callers expect: samples of 24 kHz. */
const OUTPUT_FORMATS: Readonly<Partial<Record<SpeechFormat, string>>> = {
  mp3: 'mp3_44100_128',
  pcm: 'pcm_24000',
  opus: 'opus_48000_128',
};

/** The voice stands in the path. @source @elevenlabs/elevenlabs-js 2.73, `textToSpeech.stream` */
export const elevenLabsSpeech: UpstreamSpeechFormat = {
  id: 'tts/elevenlabs',
  formats: ['mp3', 'pcm', 'opus'],
  encode({ input, speed, instructions, extra }, { model, voice, answersIn }) {
    const outputFormat = OUTPUT_FORMATS[answersIn];
    if (outputFormat === undefined) throw invalid('response_format', `"${answersIn}" has no word at this provider`);
    const language = extra?.fields['language'];
    return {
      path: `/text-to-speech/${encodeURIComponent(voice)}/stream?output_format=${outputFormat}`,
      body: {
        text: input,
        model_id: model,
        ...(typeof language === 'string' && { language_code: language }),
        ...(speed !== undefined && { voice_settings: { speed } }),
      },
      warnings:
        instructions === undefined
          ? []
          : [{ code: 'field-dropped', path: 'instructions', message: 'has no word at this provider' }],
    };
  },
  decodeError,
};
