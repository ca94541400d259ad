import type { FormatId } from '../../canonical/extra.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import { redactSecrets } from '../../pipeline/attempt/redact-secrets.ts';
import { formatsOf } from '../../providers/build-provider.ts';
import { CredentialError, type Provider } from '../../providers/contract.ts';
import { missingKey } from '../../providers/index.ts';
import { UPSTREAM_FORMATS } from '../upstream-formats.ts';
import { callProvider, TooSlow, type Answer, type CallProviderDeps } from './call-provider.ts';
import { explainConnection } from './check-connection.ts';
import type { Finding, ProviderFinding } from './finding.ts';

export interface CheckProviderDeps extends CallProviderDeps {
  /** The provider's own names of the models that endpoints name. */
  readonly models: readonly string[];
}

/** Amazon and Google refuse signatures that are five minutes off; below this there is no warning. */
export const CLOCK_TOLERANCE_MS = 120_000;
const WORDS_CHARS_MAX = 200;
const MODELS_SHOWN_MAX = 5;
/** Stands in the path of formats that name the model there, where no endpoint names one. */
const ANY_MODEL = 'any-model';
/** There is no list, or the credential may not see it: one with the least rights may only call models. */
const NO_LIST: ReadonlySet<number> = new Set([403, 404, 405]);
/**
 * Makes a free call to a provider: the list of its models, or an empty request, which it refuses after accepting the
 * key.
 */
export async function checkProvider(provider: Provider, deps: CheckProviderDeps): Promise<ProviderFinding> {
  const variables = missingKey(provider);
  if (variables.length > 0) {
    const { slug } = provider.settings;
    return failed(`There is no key: set ${variables.join(' or ')}, or providers.${slug}.api_key.`);
  }
  try {
    const listed = await listModels(provider, deps);
    if (listed !== undefined && !NO_LIST.has(listed.status)) return judgeList(provider, listed, deps);
    const model = deps.models[0] ?? ANY_MODEL;
    const { target, format } = emptyCall(provider, model);
    const answer = await callProvider(provider, { method: 'POST', target, format }, deps);
    return judgeEmpty(provider, format, model, answer);
  } catch (error) {
    if (error instanceof CredentialError) return failed(asSentence(error.message));
    if (error instanceof TooSlow) return failed(`There was no response within ${deps.limitMs / 1_000} seconds.`);
    return failed(asSentence(explainConnection(error, provider.settings.baseUrl)));
  }
}

async function listModels(provider: Provider, deps: CallProviderDeps): Promise<Answer | undefined> {
  const { checkPath, settings } = provider;
  if (checkPath === false) return undefined;
  const target = basePathOf(settings.baseUrl) + checkPath;
  return callProvider(provider, { method: 'GET', target, format: firstFormat(provider) }, deps);
}

/** Where a request of the provider's first format for this model would go. */
function emptyCall(provider: Provider, model: string): { readonly target: string; readonly format: FormatId } {
  const { formats, settings } = provider;
  const format = firstFormat(provider, model);
  const offer = formats.find((offered) => offered.format === format);
  const context = { format, settings, model, stream: false };
  const path = offer?.path === undefined ? UPSTREAM_FORMATS[format].path(context) : offer.path(context);
  return { format, target: (offer?.basePath ?? basePathOf(settings.baseUrl)) + path };
}

function firstFormat(provider: Provider, model = ''): FormatId {
  return formatsOf(provider, model)[0] ?? 'chat';
}

function basePathOf(baseUrl: string): string {
  const { pathname } = new URL(baseUrl);
  return pathname === '/' ? '' : pathname;
}

function judgeList(provider: Provider, answer: Answer, { models }: CheckProviderDeps): ProviderFinding {
  if (answer.status !== 200 || answer.isPage) return judge(provider, firstFormat(provider), answer);
  const listed = listedModels(answer.text);
  if (listed === undefined) {
    const isJson = parseJson(answer.text) !== undefined;
    return isJson ? found(answer, works(provider)) : notAnApi(provider, answer);
  }
  const known = `The key works${provider.settings.apiKey === undefined ? ', or none is needed' : ''}; ${count(listed.size)}.`;
  // Azure lists what can be deployed, not the deployments that endpoints name.
  const unlisted = provider.adapter.connect === undefined ? models.filter((model) => !listed.has(model)) : [];
  if (unlisted.length === 0 || listed.size === 0) return found(answer, known);
  const shown = unlisted.slice(0, MODELS_SHOWN_MAX).join(', ');
  const more = unlisted.length > MODELS_SHOWN_MAX ? ` and ${unlisted.length - MODELS_SHOWN_MAX} more` : '';
  return {
    ...found(answer, `${known} Not among them, though endpoints name them: ${shown}${more}.`),
    verdict: 'warning',
  };
}

function judgeEmpty(provider: Provider, format: FormatId, model: string, answer: Answer): ProviderFinding {
  const { status, isPage, text } = answer;
  // An unknown path is 404 as well, but its message does not name the model.
  const lacksModel = status === 404 && namesModelInPath(format) && text.includes(model);
  const accepts = status === 400 || status === 422 || status === 200 || lacksModel;
  const isJson = parseJson(text) !== undefined;
  if (accepts && !isPage && isJson && !refusesKey(provider, format, answer)) return found(answer, works(provider));
  return judge(provider, format, answer);
}

/** Whether the path names the model, so that a 404 is about the model and not about the address. */
function namesModelInPath(format: FormatId): boolean {
  const spoken = UPSTREAM_FORMATS[format];
  return spoken.path({ model: 'one', stream: false }) !== spoken.path({ model: 'other', stream: false });
}

/** Some vendors say 400 of a key that is wrong. */
function refusesKey({ adapter }: Provider, format: FormatId, { status, text }: Answer): boolean {
  const error = UPSTREAM_FORMATS[format].decodeError(text);
  return status === 400 && adapter.classify?.({ status, error })?.errorType === 'provider_unavailable';
}

function works(provider: Provider): string {
  if (provider.settings.apiKey !== undefined) return 'The key works.';
  return signs(provider) ? 'The credential works.' : 'It answers without a key.';
}

/** With something else than a key. */
function signs({ settings, adapter }: Provider): boolean {
  return settings.apiKey === undefined && adapter.connect !== undefined;
}

function judge(provider: Provider, format: FormatId, answer: Answer): ProviderFinding {
  const { status, isPage, location } = answer;
  const { baseUrl } = provider.settings;
  if (isPage && status < 500) return notAnApi(provider, answer);
  if (status >= 300 && status < 400)
    return withClock(
      answer,
      failed(
        `${baseUrl} sends callers elsewhere (${status}${location === undefined ? '' : ` to ${location.slice(0, WORDS_CHARS_MAX)}`}): base_url must be the address itself.`,
      ),
    );
  if (status === 401 || status === 403 || refusesKey(provider, format, answer))
    return refused(provider, format, answer);
  if (status === 402)
    return withClock(answer, failed(`The key works, but the account has no credit${words(provider, format, answer)}`));
  if (status === 429)
    return {
      ...withClock(
        answer,
        failed(`The key works, but its rate or its quota is used up${words(provider, format, answer)}`),
      ),
      verdict: 'warning',
    };
  if (status === 404 || status === 405)
    return withClock(
      answer,
      failed(
        `There is no such API at ${baseUrl} (${status}${words(provider, format, answer, true)}): check base_url, with its version segment.`,
      ),
    );
  return withClock(answer, failed(`The provider answers ${status}${words(provider, format, answer)}`));
}

function refused(provider: Provider, format: FormatId, answer: Answer): ProviderFinding {
  const { settings, adapter } = provider;
  const entry = `providers.${settings.slug}`;
  const what = signs(provider) ? 'credential' : settings.apiKey === undefined ? 'call without a key' : 'key';
  // A key of the environment that is set goes to the vendor's own hosts only.
  const unset = settings.apiKey === undefined || adapter.apiKeyVariable === undefined;
  const variable = unset ? '' : `${adapter.apiKeyVariable} or `;
  const where =
    provider.isByok === true
      ? ''
      : signs(provider)
        ? ` Check ${entry}.options, or where the machine's own credentials come from.`
        : ` ${settings.apiKey === undefined ? 'Set' : 'Check'} ${variable}${entry}.api_key.`;
  const skew =
    Math.abs(answer.clockAheadMs ?? 0) > CLOCK_TOLERANCE_MS
      ? " This machine's clock is wrong, which makes signatures and tokens invalid."
      : '';
  return withClock(
    answer,
    failed(`The ${what} was refused (${answer.status}${words(provider, format, answer, true)}).${where}${skew}`),
  );
}

function notAnApi(provider: Provider, answer: Answer): ProviderFinding {
  const { baseUrl } = provider.settings;
  const what = answer.isPage ? 'a web page' : 'something that is no JSON';
  return withClock(
    answer,
    failed(`${baseUrl} answers with ${what} (${answer.status}): base_url is not that of an API.`),
  );
}

/** The provider's own words, bounded, without secrets; as the end of a sentence, or to stand in parentheses. */
function words(provider: Provider, format: FormatId, { status, text }: Answer, inside = false): string {
  const { message } = UPSTREAM_FORMATS[format].decodeError(text);
  if (message === undefined || message.trim() === '') return inside ? '' : '.';
  const failure = {
    kind: 'status',
    errorType: 'provider_unavailable',
    status,
    message: '',
    mayTry: 'nothing',
  } as const;
  const clean = redactSecrets({ ...failure, upstreamMessage: message.slice(0, WORDS_CHARS_MAX) }, provider.settings);
  const detail = (clean.upstreamMessage ?? '').replaceAll(/\s+/g, ' ').trim();
  return inside ? `: ${detail}` : `: ${detail.replace(/[.]?$/, '.')}`;
}

/** Names in the shapes of OpenAI, Google and Cohere. */
function listedModels(text: string): ReadonlySet<string> | undefined {
  const parsed = parseJson(text);
  const list = isJsonObject(parsed) ? (parsed['data'] ?? parsed['models']) : parsed;
  if (!Array.isArray(list)) return undefined;
  const names = list.flatMap((item) => {
    const name = isJsonObject(item) ? (item['id'] ?? item['name']) : undefined;
    return typeof name === 'string' ? [name.replace(/^models\//, '')] : [];
  });
  return new Set(names);
}

function count(models: number): string {
  return models === 1 ? 'one model is listed' : `${models} models are listed`;
}

function found(answer: Answer, message: string): ProviderFinding {
  return withClock(answer, { verdict: 'ok', message });
}

function failed(message: string): Finding {
  return { verdict: 'failed', message };
}

function withClock({ clockAheadMs }: Answer, finding: Finding): ProviderFinding {
  return { ...finding, ...(clockAheadMs !== undefined && { clockAheadMs }) };
}

function asSentence(clause: string): string {
  return clause.charAt(0).toUpperCase() + clause.slice(1) + (/[.?]$/.test(clause) ? '' : '.');
}
