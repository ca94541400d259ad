import type { WireObject } from '../../json-fields.ts';

/** A message that is being written. */
export interface WireMessage extends WireObject {
  role: 'user' | 'assistant' | 'system';
  content: string | WireObject[];
}
