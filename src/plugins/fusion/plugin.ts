import type { Plugin } from '../contract.ts';
import { fusionOptions } from './options.ts';

export const fusion = {
  id: 'fusion',
  options: fusionOptions,
  slugs: ['service/fusion', 'service/fusion-flash'],
} satisfies Plugin;
