import type { Plugin } from '../contract.ts';
import { autoRouterOptions } from './options.ts';

export const autoRouter = {
  id: 'auto-router',
  options: autoRouterOptions,
  slugs: ['service/auto'],
} satisfies Plugin;
