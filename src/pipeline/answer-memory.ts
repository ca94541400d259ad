import type { EventBatch } from '../canonical/events.ts';
import type { Warning } from '../canonical/extra.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import type { Dialect, UpstreamFormat } from '../wire/format.ts';
import { createOriginMemory } from './origin-memory.ts';
import type { PassedValues } from './passed-values.ts';
import { createSignatureMemory } from './signature-memory.ts';

/** One endpoint that is asked, as far as memories go. */
export interface AskedEndpoint {
  readonly format: UpstreamFormat;
  readonly dialect: Dialect;
  /** Slug. */
  readonly provider: string;
  readonly accountId: string;
}

export interface Recalled {
  readonly request: GenerationRequest;
  readonly warnings: readonly Warning[];
}

/** What is kept of earlier answers so that their next turn works. Bounded, in memory, and never needed to be right. */
export interface AnswerMemory {
  /** The provider that alone can read reasoning of the request; `undefined`: any can read all that is known. */
  homeOf(request: GenerationRequest): string | undefined;
  /**
   * The request as an endpoint is to get it: with what its caller lost, and without what only others can read. Mostly at
   * once, else a promise, where other processes are asked.
   */
  recall(request: GenerationRequest, asked: AskedEndpoint): Recalled | Promise<Recalled>;
  /** Listens to one answer; `undefined` where there is nothing to keep of it, as with most formats. */
  listen(asked: AskedEndpoint): ((batch: EventBatch) => void) | undefined;
}

export interface AnswerMemoryParts {
  readonly clock: Clock;
  /** Absent: there are no other processes. */
  readonly values?: PassedValues | undefined;
}

export function createAnswerMemory(parts: AnswerMemoryParts): AnswerMemory {
  const signatures = createSignatureMemory(parts);
  const origins = createOriginMemory(parts);
  const restore = (request: GenerationRequest, asked: AskedEndpoint): Recalled => {
    const restored = signatures.restore(request, asked.format, asked.accountId);
    return carriesForeign(asked) ? origins.keepOwn(restored, asked.provider) : { request: restored, warnings: [] };
  };
  return {
    homeOf: (request) => origins.homeOf(request),
    recall(request, asked) {
      const asking = signatures.ask(request, asked.format, asked.accountId);
      return asking === undefined ? restore(request, asked) : asking.then(() => restore(request, asked));
    },
    listen(asked) {
      return carriesForeign(asked) ? origins.listen(asked.provider) : signatures.listen(asked.format, asked.accountId);
    },
  };
}

/** Whether encrypted reasoning goes there by its family alone, whoever of that family made it. Other formats drop it. */
function carriesForeign({ format, dialect }: AskedEndpoint): boolean {
  return format.id === 'responses' || (format.id === 'chat' && dialect.reasoningMember === 'reasoning_details');
}
