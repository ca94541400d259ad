import type { EndEvent } from '../../../canonical/events.ts';
import type { FormatId } from '../../../canonical/extra.ts';
import { UNREPORTED_FAILURE, type ResponseFailure } from './error-out.ts';

/** How a response ended. */
export type Outcome =
  | { readonly status: 'completed' | 'cancelled' }
  | { readonly status: 'incomplete'; readonly reason: string }
  | { readonly status: 'failed'; readonly failure: ResponseFailure };

export const CUT_BY_LENGTH: Outcome = { status: 'incomplete', reason: 'max_output_tokens' };

/** The upstream's own word for a response that is whole. */
const WHOLE = 'completed';

/**
 * @param format that the upstream spoke: a reason of this format that the gateway does not know is passed on
 * @param refused the model declined in words of its own, so that the response is whole
 */
export function outcomeOf(end: EndEvent | undefined, format: FormatId | undefined, refused: boolean): Outcome {
  switch (end?.finish) {
    case 'length':
      return CUT_BY_LENGTH;
    case 'content_filter':
      return refused ? { status: 'completed' } : { status: 'incomplete', reason: 'content_filter' };
    case 'error':
      return { status: 'failed', failure: UNREPORTED_FAILURE };
    case 'stop':
    case 'tool_calls':
    case 'unknown':
    case undefined:
    default: {
      const { nativeFinish = WHOLE } = end ?? {};
      return format === 'responses' && nativeFinish !== WHOLE
        ? { status: 'incomplete', reason: nativeFinish }
        : { status: 'completed' };
    }
  }
}
