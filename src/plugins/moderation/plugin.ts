import type { Plugin } from '../contract.ts';
import { moderationOptions } from './options.ts';

export const moderation = { id: 'moderation', options: moderationOptions } satisfies Plugin;
