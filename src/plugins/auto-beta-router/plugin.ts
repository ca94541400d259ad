import type { Plugin } from '../contract.ts';
import { autoBetaRouterOptions } from './options.ts';

export const autoBetaRouter = {
  id: 'auto-beta-router',
  options: autoBetaRouterOptions,
  slugs: ['service/auto-beta'],
} satisfies Plugin;
