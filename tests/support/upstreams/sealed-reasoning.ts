import type { JsonObject } from '../../../src/lib/json.ts';
import { json } from '../upstream.ts';
import { speak } from './speak.ts';

export const USER: JsonObject = { role: 'user', content: 'Think.' };
export const GO_ON: JsonObject = { role: 'user', content: 'Go on.' };
export const SEAL = 'gAAAAABsealed-for-one-organization==';

/** A response whose reasoning only the organization that made it can open. */
export const SEALED = speak({
  parts: [
    { type: 'thought', text: 'I think.', seal: SEAL },
    { type: 'text', text: 'Thought.' },
  ],
});

/** As OpenAI says it. openai/codex#8145, 2025-12 */
export const UNREADABLE = json(400, {
  error: {
    message: 'The encrypted content gAAA...==  could not be verified.',
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_encrypted_content',
  },
});
