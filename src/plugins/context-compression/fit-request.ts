import { estimateRequestTokens } from '../../canonical/estimate-tokens.ts';
import type { FormatId } from '../../canonical/extra.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { EndpointFacts, RequestFitting } from '../contract.ts';
import { compress } from './middle-out.ts';
import { unitsOf, type Unit } from './units.ts';

/** For endpoints with at most this context requests are fitted by default. @spec plugin-22 */
const SMALL_CONTEXT_TOKENS = 8_192;
/** The most turns that upstreams of the messages format take. @spec plugin-24 */
const MESSAGES_TURNS_MAX = 1_000;
/** Left free for the answer where the request sets no limit to it; at most a quarter of the context. */
const ANSWER_TOKENS = 1_024;
/** Of the room that there is: tokenizers count differently, and an estimate is right to about a quarter. */
const FILLED_SHARE = 0.9;

/** Fits a request by removing its middle, and selects the endpoints for which that is possible. @spec plugin-21 */
export function fitByMiddleOut(request: GenerationRequest, isRequested: boolean): RequestFitting {
  const isOn = ({ contextTokensMax, outputModalities }: EndpointFacts): boolean =>
    (isRequested || (contextTokensMax ?? Infinity) <= SMALL_CONTEXT_TOKENS) &&
    !(outputModalities?.length === 1 && outputModalities[0] === 'image');
  const isLeftAlone = truncatesItself(request);
  return {
    isRequested,
    judge(endpoints) {
      if (!endpoints.some(isOn)) return () => undefined;
      const size = measure(request);
      const half = (size.tokens + (request.settings.maxTokens ?? 0)) / 2;
      const largest = Math.max(...endpoints.map(contextOf));
      return (endpoint) => {
        if (!isOn(endpoint) || !isTooLong(size.tokens, request, endpoint)) return undefined;
        if (isLeftAlone(endpoint, endpoint.formats?.[0])) return true;
        const context = contextOf(endpoint);
        return size.keptTokens <= roomOf(request, endpoint) && context >= Math.min(half, largest);
      };
    },
    fit(full, endpoint, format) {
      if (!isOn(endpoint) || isLeftAlone(endpoint, format)) return undefined;
      const turnsMax = format === 'messages' ? MESSAGES_TURNS_MAX : Infinity;
      const isLong = isTooLong(estimateRequestTokens(full), full, endpoint);
      if (!isLong && full.turns.length <= turnsMax) return undefined;
      return leaveOutMiddle(full, isLong ? roomOf(full, endpoint) * FILLED_SHARE : Infinity, turnsMax);
    },
  };
}

/** Which endpoints shorten the input by themselves: those of the vendor of `truncation`, where the request has it. */
function truncatesItself({
  directives,
}: GenerationRequest): (endpoint: EndpointFacts, format: FormatId | undefined) => boolean {
  const yields = directives.plugins.some(({ yieldsToNative }) => yieldsToNative === true);
  return ({ openTools }, format) => yields && openTools === true && format === 'responses';
}

interface Size {
  readonly units: readonly Unit[];
  readonly tokens: number;
  /** Without everything that may be left out. */
  readonly keptTokens: number;
}

function measure(request: GenerationRequest): Size {
  const units = unitsOf(request.turns);
  const tokens = estimateRequestTokens(request);
  const free = units.reduce((sum, unit) => (unit.isKept ? sum : sum + unit.tokens), 0);
  return { units, tokens, keptTokens: tokens - free };
}

function contextOf({ contextTokensMax = Infinity }: EndpointFacts): number {
  return contextTokensMax;
}

/** No answer is left more than half of the context, however long it may be. */
function answerOf(endpoint: EndpointFacts, tokens: number): number {
  return Math.min(tokens, endpoint.outputTokensMax ?? Infinity, contextOf(endpoint) / 2);
}

function isTooLong(tokens: number, { settings }: GenerationRequest, endpoint: EndpointFacts): boolean {
  return tokens + answerOf(endpoint, settings.maxTokens ?? 0) > contextOf(endpoint);
}

/** Tokens of the context that the prompt may fill. */
function roomOf({ settings }: GenerationRequest, endpoint: EndpointFacts): number {
  const context = contextOf(endpoint);
  return context - answerOf(endpoint, settings.maxTokens ?? Math.min(ANSWER_TOKENS, context / 4));
}

function leaveOutMiddle(
  request: GenerationRequest,
  tokensMax: number,
  turnsMax: number,
): ReturnType<RequestFitting['fit']> {
  const { units, tokens } = measure(request);
  const ofTurns = units.reduce((sum, unit) => sum + unit.tokens, 0);
  const turns = compress(units, { tokens: tokensMax - (tokens - ofTurns), turns: turnsMax });
  if (turns.length === request.turns.length && turns.every((turn, index) => turn === request.turns[index]))
    return undefined;
  const counts = { original_count: request.turns.length, compressed_count: turns.length };
  const message = `were too many for the endpoint: of ${counts.original_count}, ${counts.compressed_count} went upstream`;
  return {
    request: { ...request, turns },
    stage: {
      type: 'context_compression',
      name: 'context-compression',
      summary: `Left out the middle of the conversation: ${counts.compressed_count} of ${counts.original_count} messages went upstream`,
      data: { engine: 'middle-out', input_type: 'messages', ...counts },
    },
    warning: { code: 'content-dropped', path: 'messages', message },
  };
}
