import type { EventBatch } from '../../canonical/events.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Dialect, UpstreamFormat } from '../../wire/format.ts';
import { createOriginMemory, type KeptOwn } from './origin-memory.ts';
import type { PassedValues } from './shared-values.ts';
import { createReasoningMemory } from './reasoning-history.ts';
import { createSignatureMemory } from './signature-memory.ts';
import { createTextSignatureMemory } from './text-signatures.ts';

/** The endpoint that is called, as far as memories go. */
export interface RequestedEndpoint {
  readonly format: UpstreamFormat;
  readonly dialect: Dialect;
  /** Slug. */
  readonly provider: string;
  /** Of the caller's account and workspace. */
  readonly scope: string;
  /** The upstream's own name of the model. */
  readonly model: string;
  /** The member that takes reasoning back is the one that the upstream itself wrote. */
  readonly learnsReasoningMember: boolean;
}

export interface Recalled extends KeptOwn {
  /** In which the upstream wrote its reasoning in this conversation, where that counts. */
  readonly reasoningMember?: NonNullable<Dialect['reasoningMember']>;
}

/** What later turns need of earlier responses. Bounded, in memory, and a request is correct without it. */
export interface ResponseMemory {
  /** Returns the one provider that can read the request's reasoning; `undefined`: any provider can read all of it. */
  pinnedProviderOf(request: GenerationRequest, scope: string): string | undefined;
  /** The provider that made an encrypted text, as far as it is remembered. */
  originOf(scope: string, encrypted: string): string | undefined;
  /** What is kept elsewhere of an encrypted text, such as with a stored response. */
  learnOrigin(scope: string, encrypted: string, provider: string): void;
  /**
   * Returns the request for an endpoint: with what its caller lost, and without what only other providers can read. Mostly
   * at once, else as a promise, where other processes may remember more.
   */
  recall(request: GenerationRequest, requested: RequestedEndpoint): Recalled | Promise<Recalled>;
  /** Returns a listener for one response; `undefined` where nothing of it is remembered, as with most formats. */
  listen(request: GenerationRequest, requested: RequestedEndpoint): ((batch: EventBatch) => void) | undefined;
}

export interface ResponseMemoryDeps {
  readonly clock: Clock;
  /** Absent: there are no other processes. */
  readonly values?: PassedValues | undefined;
  /** Of the bytes that each memory may take at most, from 0 to 1. Absent: all of them. */
  readonly part?: number;
}

export function createResponseMemory(deps: ResponseMemoryDeps): ResponseMemory {
  const signatures = createSignatureMemory(deps);
  const origins = createOriginMemory(deps);
  const texts = createTextSignatureMemory(deps);
  const members = createReasoningMemory(deps);
  const restore = (request: GenerationRequest, requested: RequestedEndpoint): Recalled => {
    const signed = signsTexts(requested) ? texts.restore(request, requested.scope) : request;
    const restored = signatures.restore(signed, requested.format, requested.scope);
    return carriesForeign(requested) ? origins.keepOwn(restored, requested) : { request: restored, warnings: [] };
  };
  return {
    pinnedProviderOf: (request, scope) => origins.pinnedProviderOf(request, scope),
    originOf: (scope, encrypted) => origins.originOf(scope, encrypted),
    learnOrigin: (scope, encrypted, provider) => origins.learn(scope, encrypted, provider),
    recall(request, requested) {
      if (requested.learnsReasoningMember) {
        const member = members.memberOf(request, requested);
        return member instanceof Promise
          ? member.then((found) => withMember(request, found))
          : withMember(request, member);
      }
      const ofCalls = signatures.ask(request, requested.format, requested.scope);
      const ofTexts = signsTexts(requested) ? texts.lookUp(request, requested.scope) : undefined;
      if (ofCalls === undefined && ofTexts === undefined) return restore(request, requested);
      return Promise.all([ofCalls, ofTexts]).then(() => restore(request, requested));
    },
    listen(request, requested) {
      if (requested.learnsReasoningMember) return members.listen(requested);
      const listen = carriesForeign(requested)
        ? origins.listen(requested)
        : signatures.listen(requested.format, requested.scope);
      if (!signsTexts(requested)) return listen;
      const listenToText = texts.listen(request, requested.scope);
      return (batch) => {
        listen?.(batch);
        listenToText(batch);
      };
    },
  };
}

function withMember(request: GenerationRequest, member: Recalled['reasoningMember'] | undefined): Recalled {
  return { request, warnings: [], ...(member !== undefined && { reasoningMember: member }) };
}

function carriesForeign({ format, dialect }: RequestedEndpoint): boolean {
  return format.carriesForeignReasoning?.(dialect) === true;
}

function signsTexts({ format, dialect }: RequestedEndpoint): boolean {
  return format.signsTexts?.(dialect) === true;
}
