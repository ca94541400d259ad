import { request } from 'undici';
import { addressErrorIn, createGuardedAgent, type GuardedAgentOptions } from '../../lib/net/guarded-agent.ts';
import type { OutboundPost } from './contract.ts';

/** What became of one call. */
export type PostOutcome =
  | { readonly status: number }
  /** There was no response. The reason is safe to show. */
  | { readonly status: undefined; readonly reason: string };

/** Calls addresses that users chose. */
export interface Poster {
  /** Never rejects. */
  post(call: OutboundPost): Promise<PostOutcome>;
  /** Why an address is not called whatever it answers; `undefined`: it may be. */
  faultOf(url: string): string | undefined;
  close(): Promise<void>;
}

const POST_MS_MAX = 10_000;
/** Of a response, which is discarded. */
const ANSWER_BYTES_MAX = 64 * 1_024;

export function createPoster(options: GuardedAgentOptions): Poster {
  const agent = createGuardedAgent(options);
  return {
    async post({ url, method, headers, body }) {
      const signal = AbortSignal.timeout(POST_MS_MAX);
      try {
        const answer = await request(agent.admit(url), {
          dispatcher: agent.dispatcher,
          method,
          headers: { ...headers, 'user-agent': 'model-gateway' },
          body,
          signal,
        });
        await answer.body.dump({ limit: ANSWER_BYTES_MAX, signal });
        return { status: answer.statusCode };
      } catch (error) {
        const refused = addressErrorIn(error)?.message;
        const reason = signal.aborted ? 'The address took too long to answer.' : 'The address could not be reached.';
        return { status: undefined, reason: refused ?? reason };
      }
    },
    faultOf(url) {
      try {
        agent.admit(url);
        return undefined;
      } catch (error) {
        const refused = addressErrorIn(error);
        if (refused === undefined) throw error;
        return refused.message;
      }
    },
    close: () => agent.close(),
  };
}
