import type { Plugin } from '../contract.ts';
import { responseHealingOptions } from './options.ts';

export const responseHealing = { id: 'response-healing', options: responseHealingOptions } satisfies Plugin;
