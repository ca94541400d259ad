import type { Presets } from '../../accounts/presets.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { ResponseCacheSetting } from '../../canonical/directives.ts';
import type { ClientFormatId } from '../../canonical/extra.ts';
import type { ModelRequest } from '../../canonical/operation.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import { hasFragileNumbers, parseKeepingNumbers, type Json, type JsonObject } from '../../lib/json.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { mergePreset, findPreset } from '../../wire/gateway/preset/merge-preset.ts';
import type { HeaderDirectives } from '../../wire/gateway/headers.ts';
import { parseCacheSetting } from '../../wire/gateway/response-cache.ts';

type Decode = ClientFormat['decodeRequest'];

/** The content of an admitted request. */
export interface SentRequest {
  readonly principal: Pick<Principal, 'workspaceId'>;
  readonly body: Json;
  readonly text: string;
  readonly headers: HeaderDirectives;
}

/**
 * Reads a request, with what it leaves open taken from the preset that it names: the settings before its format reads it,
 * the instructions after, so that the places of messages stay those of the caller.
 * @throws GatewayError 400; 404 for a preset that is not there, or not in use
 * @spec preset-6, preset-7
 */
export function readWithPreset(
  presets: Pick<Presets, 'use'>,
  format: ClientFormatId,
  decode: Decode,
  { principal, body, text, headers }: SentRequest,
): GenerationRequest | Promise<GenerationRequest> {
  const named = findPreset(body);
  if (named === undefined) {
    return withCacheHeaders(decode(body, text, headers), headers, text);
  }
  const merge = (preset: Awaited<ReturnType<Presets['use']>>): GenerationRequest => {
    const { config, systemPrompt } = preset;
    const merged = mergePreset(format, named.body, config);
    const request = decode(merged.body, exactText(format, text, config), headers);
    const whole = withInstructions(withWarnings(request, merged.dropped), systemPrompt);
    return withCacheSetting(whole, parseCacheSetting(headers.cache, preset, text));
  };
  const preset = presets.use(principal.workspaceId, named.slug);
  return preset instanceof Promise ? preset.then(merge) : merge(preset);
}

/** The request with slugs for the names that stand for them. @param rename gives what stands for no other as it is */
export function withFullNames<Request extends ModelRequest>(
  request: Request,
  rename: (name: string) => string,
): Request {
  const { directives } = request;
  for (const name of directives.models)
    if (rename(name) !== name)
      return { ...request, directives: { ...directives, models: directives.models.map(rename) } };
  return request;
}

/** The text of the merged body with numbers as the caller wrote them. It is not used when no number is fragile. */
function exactText(format: ClientFormatId, text: string, config: JsonObject): string {
  const named = hasFragileNumbers(text) ? findPreset(parseKeepingNumbers(text)) : undefined;
  return named === undefined ? text : JSON.stringify(mergePreset(format, named.body, config).body);
}

/** With what the headers say of caching. @param text of the body, as it came */
export function withCacheHeaders<Request extends ModelRequest>(
  request: Request,
  { cache }: Pick<HeaderDirectives, 'cache'>,
  text: string,
): Request {
  return cache === undefined ? request : withCacheSetting(request, parseCacheSetting(cache, undefined, text));
}

function withCacheSetting<Request extends ModelRequest>(
  request: Request,
  setting: ResponseCacheSetting | undefined,
): Request {
  return setting === undefined
    ? request
    : { ...request, directives: { ...request.directives, responseCache: setting } };
}

function withWarnings(request: GenerationRequest, dropped: readonly string[]): GenerationRequest {
  if (dropped.length === 0) return request;
  const warnings = dropped.map((member) => ({
    code: 'field-dropped' as const,
    path: `preset.${member}`,
    message: `of the preset has no words in the ${request.format} format`,
  }));
  return { ...request, warnings: [...request.warnings, ...warnings] };
}

/** Those of the request take the place of the preset's. */
function withInstructions(request: GenerationRequest, text: string | null): GenerationRequest {
  if (text === null || request.turns.some(isInstruction)) return request;
  const turn: Turn = { role: 'system', blocks: [{ type: 'text', text }], plain: true, ofPreset: true };
  return { ...request, turns: [turn, ...request.turns] };
}

function isInstruction({ role, blocks }: Turn): boolean {
  return (
    (role === 'system' || role === 'developer') && blocks.some((block) => block.type !== 'text' || block.text !== '')
  );
}
