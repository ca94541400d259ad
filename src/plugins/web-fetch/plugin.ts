import type { Plugin } from '../contract.ts';
import { webFetchOptions } from './options.ts';

export const webFetch = { id: 'web-fetch', options: webFetchOptions } satisfies Plugin;
