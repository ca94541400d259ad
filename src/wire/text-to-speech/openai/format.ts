import { SPEECH_FORMATS } from '../../../canonical/speech.ts';
import { decodeError } from '../../upstream-error.ts';
import type { UpstreamSpeechFormat } from '../format.ts';

/** The form of the vendor that most hosts speak. @source openai 7.55, `audio.speech` */
export const openAiSpeech: UpstreamSpeechFormat = {
  id: 'tts/openai',
  formats: SPEECH_FORMATS,
  encode({ input, speed, instructions, extra }, { model, voice, answersIn }) {
    const body = {
      ...(extra?.format === 'tts/openai' && extra.fields),
      model,
      input,
      voice,
      response_format: answersIn,
      ...(speed !== undefined && { speed }),
      ...(instructions !== undefined && { instructions }),
    };
    return { path: '/audio/speech', body, warnings: [] };
  },
  decodeError,
};
