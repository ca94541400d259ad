import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { isBound, withoutBlocks, type KeptOwn } from './origin-memory.ts';

// OpenAI and Azure have a code for it (openai/codex#8145, 2025-12), xAI only words: "Could not decrypt the provided
// encrypted_content" (Wei-Shaw/sub2api#4535, 2026-07).
const UNREADABLE_CODE = 'invalid_encrypted_content';
const UNREADABLE_WORDS =
  /could not decrypt .*encrypted_content|encrypted content .*could not be (?:verified|decrypted)/i;
// Anthropic, also at Vertex (anthropics/claude-code#10627, 2025-10), and Gemini (google-gemini/gemini-cli#13467, 2025-11).
const BAD_SIGNATURE_WORDS = /invalid `?signature`? in `?thinking`? block|corrupted thought signature/i;

/**
 * The request without the reasoning for which an upstream refused it, for one more try; `undefined` for any other failure.
 * What a caller of the messages format sends stands as it is: it learns that its own history is wrong.
 */
export function withoutRefusedReasoning(request: GenerationRequest, failure: UpstreamFailure): KeptOwn | undefined {
  const { upstreamStatus, providerCode, upstreamMessage = '' } = failure;
  if (upstreamStatus !== 400) return undefined;
  if (providerCode === UNREADABLE_CODE || UNREADABLE_WORDS.test(upstreamMessage))
    return withoutBlocks(request, isBound, 'the provider could not read this encrypted reasoning');
  if (request.format === 'messages' || !BAD_SIGNATURE_WORDS.test(upstreamMessage)) return undefined;
  return withoutBlocks(
    request,
    ({ type }) => type === 'reasoning',
    'the provider refused the signature of earlier reasoning',
  );
}
