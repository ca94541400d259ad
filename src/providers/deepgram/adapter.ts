import { SPEECH_FORMATS } from '../../canonical/speech.ts';
import { TRANSCRIPT_FORMATS } from '../../canonical/transcription.ts';
import type { ProviderAdapter } from '../contract.ts';

/** Deepgram: transcripts and speech. @source developers.deepgram.com "Authenticating", read 2026-11 */
export const deepgramAdapter: ProviderAdapter = {
  id: 'deepgram',
  name: 'Deepgram',
  baseUrl: 'https://api.deepgram.com/v1',
  apiKeyVariable: 'DEEPGRAM_API_KEY',
  formats: [],
  offers: [
    {
      kind: 'stt',
      format: 'stt/deepgram',
      transcription: {
        formats: TRANSCRIPT_FORMATS.filter((format) => format !== 'srt' && format !== 'vtt' && format !== 'text'),
        streaming: false,
      },
    },
    {
      kind: 'tts',
      format: 'tts/deepgram',
      // developers.deepgram.com "TTS Voice Controls", read 2026-11.
      speech: { formats: SPEECH_FORMATS, sampleRate: 24_000, speed: { min: 0.7, max: 1.5 } },
    },
  ],
  checkPath: '/projects',
  dialect: () => ({}),
  authorize: ({ settings }) => (settings.apiKey === undefined ? {} : { authorization: `Token ${settings.apiKey}` }),
};
