import type { DecisionInput, DecisionMethod, DecisionRequest } from '../../canonical/decisions.ts';
import type { Directives } from '../../canonical/directives.ts';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Catalog, Model } from '../../catalog/model.ts';
import { isDecisionModel } from '../../catalog/serves-kind.ts';
import { LOGPROBS_OPTIONS_MAX } from '../../decisions/token-probabilities.ts';
import type { Plugin } from '../../plugins/contract.ts';
import { isSlugOf } from '../plugins/enabled-plugins.ts';
import { resolveModels } from '../route/resolve-models.ts';

export interface JudgeModelDeps {
  readonly catalog: Catalog;
  readonly plugins: readonly Plugin[];
}

/** @throws GatewayError 400 or 404 where the first model cannot be a judge */
export function judgeOf({ catalog, plugins }: JudgeModelDeps, directives: Pick<Directives, 'models'>): Model {
  const routed = directives.models.find((slug) => plugins.some((plugin) => isSlugOf(plugin, slug)));
  if (routed !== undefined)
    throw invalid('model', `${JSON.stringify(routed)} is a router: name the model that is to decide`);
  const { models } = resolveModels({ directives, settings: {} }, undefined, catalog);
  const silent = models.find(({ outputModalities }) => outputModalities?.includes('text') === false);
  const [model] = models;
  if (silent === undefined && model !== undefined) return model;
  const message = 'writes no text, which a judge has to: name a chat model';
  throw new GatewayError('invalid_request', `model: ${JSON.stringify(silent?.slug ?? '')} ${message}`, {
    issues: [{ path: 'model', message }],
    availability: { code: 'wrong_endpoint', retryable: false, requestedModels: directives.models },
  });
}

/**
 * Whether the first model decides by itself, and is not to be made to.
 * @throws GatewayError 400 where it cannot do what is demanded
 */
export function decidesNatively(
  { catalog }: Pick<JudgeModelDeps, 'catalog'>,
  { directives, method }: Pick<DecisionRequest, 'directives' | 'method'>,
): boolean {
  const [slug = ''] = directives.models;
  const found = catalog.resolve?.(slug)?.model;
  const isNative = found !== undefined && isDecisionModel(found);
  if (isNative && method !== 'auto' && method !== 'native')
    throw invalid('options.emulation', `${JSON.stringify(slug)} decides by itself, and writes no text: leave it out`);
  return isNative;
}

/** @throws GatewayError 400 where the request names a method that the model or a question does not allow */
export function methodOf(
  { method, questions }: Pick<DecisionInput, 'method' | 'questions'>,
  model: Model,
): DecisionMethod {
  if (method === 'native')
    throw invalid('options.emulation', `${JSON.stringify(model.slug)} has no decision form of its own: leave it out`);
  if (method === 'schema') return method;
  const long = questions.find(({ options }) => options.length > LOGPROBS_OPTIONS_MAX);
  const isStated = statesLogprobs(model);
  if (method === 'auto') return isStated && long === undefined ? 'logprobs' : 'schema';
  if (!isStated)
    throw invalid('options.emulation', `${JSON.stringify(model.slug)} states no log-probabilities: use "schema"`);
  if (long !== undefined)
    throw invalid(
      `questions.${long.id}.criteria`,
      `must have at most ${LOGPROBS_OPTIONS_MAX} options with log-probabilities: use "schema"`,
    );
  return method;
}

/** A token that comes after reasoning says what was reasoned, and not how likely it was. */
function statesLogprobs(model: Model): boolean {
  const stated = model.endpoints.filter(
    ({ supportedParameters: known }) => known?.has('logprobs') === true && known.has('top_logprobs'),
  );
  return stated.length > 0 && !isReasoning(model);
}

/** A request with a strict schema is for endpoints alone that state that they keep to it. */
export function takesSchema({ endpoints }: Model): boolean {
  return endpoints.some(({ supportedParameters: known }) => known?.has('structured_outputs') !== false);
}

export function isReasoning({ reasoning, endpoints }: Model): boolean {
  return (
    reasoning !== undefined ||
    endpoints.some(({ supportedParameters }) => supportedParameters?.has('reasoning') === true)
  );
}
