import { TRANSCRIPT_FORMATS } from '../../canonical/transcription.ts';
import type { ProviderAdapter } from '../contract.ts';

/** Deepgram: transcripts alone. @source developers.deepgram.com "Authenticating", read 2026-11 */
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
  ],
  checkPath: '/projects',
  dialect: () => ({}),
  authorize: ({ settings }) => (settings.apiKey === undefined ? {} : { authorization: `Token ${settings.apiKey}` }),
};
