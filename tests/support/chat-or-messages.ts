import type { ClientFormatId } from '../../src/canonical/extra.ts';

/** The two formats whose callers send messages: cases that are written as messages run in both. */
export type ChatOrMessages = Exclude<ClientFormatId, 'responses'>;
