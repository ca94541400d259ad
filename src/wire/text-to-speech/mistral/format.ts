import { invalid } from '../../../canonical/gateway-error.ts';
import { Base64Member } from '../../../lib/json/base64-member.ts';
import { decodeError } from '../../upstream-error.ts';
import type { UpstreamSpeechFormat } from '../format.ts';

/**
 * The form of OpenAI with other names, and the sound inside of JSON. Its own `pcm` is floats, so samples are taken out of a
 * WAV file. @source docs.mistral.ai "Quickstart: generate speech", read 2026-11
 */
export const mistralSpeech: UpstreamSpeechFormat = {
  id: 'tts/mistral',
  formats: ['mp3', 'wav', 'opus', 'flac'],
  encode({ input, speed, instructions }, { model, voice, answersIn }) {
    if (speed !== undefined) throw invalid('speed', 'has no word at this provider');
    return {
      path: '/audio/speech',
      body: {
        model,
        input,
        voice_id: voice,
        response_format: answersIn,
      },
      warnings:
        instructions === undefined
          ? []
          : [{ code: 'field-dropped', path: 'instructions', message: 'has no word at this provider' }],
    };
  },
  createDecoder() {
    const member = new Base64Member('audio_data');
    return { push: (chunk) => member.push(chunk), end: () => ({}) };
  },
  decodeError,
};
