import type { Plugin } from '../contract.ts';
import { switchyardRouterOptions } from './options.ts';

export const switchyardRouter = {
  id: 'switchyard-router',
  options: switchyardRouterOptions,
  slugs: ['service/switchyard'],
} satisfies Plugin;
