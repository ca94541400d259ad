import { failureOfMeaning, MEANINGS } from '../../canonical/failure/failure-meaning.ts';
import type { ProviderAdapter } from '../contract.ts';

/** Stability AI: pictures alone, of about a megapixel, one a call. @source platform.stability.ai, as `stability-ai` 0.7 of npm calls it */
export const stabilityAdapter: ProviderAdapter = {
  id: 'stability',
  name: 'Stability AI',
  baseUrl: 'https://api.stability.ai/v2beta',
  apiKeyVariable: 'STABILITY_API_KEY',
  formats: [],
  offers: [
    {
      kind: 'image',
      format: 'image/stability',
      image: {
        nMax: 1,
        resolutions: ['1K'],
        outputFormats: ['png', 'jpeg', 'webp'],
        referencesMax: 0,
        mask: false,
        seed: true,
        streaming: false,
      },
    },
  ],
  checkPath: false,
  dialect: () => ({}),
  authorize: ({ settings }) => (settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` }),
  classify: ({ status, error }) =>
    status === 403 && error.code === 'content_moderation' ? failureOfMeaning(MEANINGS.refused) : undefined,
};
