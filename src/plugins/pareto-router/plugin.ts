import type { Plugin } from '../contract.ts';
import { paretoRouterOptions } from './options.ts';

export const paretoRouter = {
  id: 'pareto-router',
  options: paretoRouterOptions,
  slugs: ['service/pareto-code'],
} satisfies Plugin;
