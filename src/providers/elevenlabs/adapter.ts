import type { ProviderAdapter } from '../contract.ts';

/** ElevenLabs: speech and transcripts. @source @elevenlabs/elevenlabs-js 2.73 */
export const elevenLabsAdapter: ProviderAdapter = {
  id: 'elevenlabs',
  name: 'ElevenLabs',
  baseUrl: 'https://api.elevenlabs.io/v1',
  apiKeyVariable: 'ELEVENLABS_API_KEY',
  formats: [],
  offers: [
    {
      kind: 'tts',
      format: 'tts/elevenlabs',
      speech: { formats: ['mp3', 'pcm', 'opus'], sampleRate: 24_000, speed: { min: 0.7, max: 1.2 } },
    },
    {
      kind: 'stt',
      format: 'stt/elevenlabs',
      transcription: { formats: ['json', 'verbose_json', 'diarized_json'], streaming: false },
    },
  ],
  checkPath: '/models',
  dialect: () => ({}),
  authorize: ({ settings }) => (settings.apiKey === undefined ? {} : { 'xi-api-key': settings.apiKey }),
};
