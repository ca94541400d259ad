import type { Plugin } from '../contract.ts';
import { webOptions } from './options.ts';

export const web = { id: 'web', options: webOptions } satisfies Plugin;
