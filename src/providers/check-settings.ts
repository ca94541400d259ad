import { validateHeaderName, validateHeaderValue } from 'node:http';
import { nearestName } from '../lib/text/nearest-name.ts';
import { SettingError, type ProviderAdapter } from './contract.ts';
import { optionsOf } from './provider-options.ts';

/** A provider that cannot be set up. The message names the setting, says what is wrong and never holds a secret. */
export class ProviderSetupError extends Error {
  /** `providers.alpha.base_url`, or the name of a variable. */
  readonly setting: string;
  readonly problem: string;

  constructor(setting: string, problem: string, options?: ErrorOptions) {
    super(`${setting}: ${problem}`, options);
    this.name = 'ProviderSetupError';
    this.setting = setting;
    this.problem = problem;
  }
}

/** A variable that is set to nothing counts as not set, as in shells and container files. */
export function textOf(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

export function checkedBaseUrl(setting: string, normalise: () => string): string {
  try {
    return normalise();
  } catch (error) {
    if (error instanceof RangeError) throw new ProviderSetupError(setting, error.message, { cause: error });
    throw error;
  }
}

/** A key travels in a header, so one with a line break or a letter beyond ASCII would fail every request later. */
export function checkedKey(setting: string, key: string): string {
  const trimmed = key.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new ProviderSetupError(setting, 'must be printable ASCII without spaces');
  return trimmed;
}

/** Lower-case names, so that none can stand beside the same name of an adapter. */
export function checkedHeaders(
  setting: string,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const checked: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch (error) {
      throw new ProviderSetupError(`${setting}.${name}`, 'is no valid HTTP header', { cause: error });
    }
    checked[name.toLowerCase()] = value;
  }
  return checked;
}

/** A file's options were checked where they stand; these may come from anywhere. */
export function checkedOptions(
  setting: string,
  adapter: ProviderAdapter,
  options: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const schema = optionsOf(adapter);
  const known = Object.keys(schema?.shape ?? {});
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const nearest = nearestName(name, known);
    const hint = known.length === 0 ? `the adapter ${adapter.id} has no options` : `known are ${known.join(', ')}`;
    const problem = nearest === undefined ? `unknown option; ${hint}` : `unknown option; did you mean "${nearest}"?`;
    throw new ProviderSetupError(`${setting}.${name}`, problem);
  }
  const result = schema?.safeParse(options);
  if (result === undefined) return {};
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ProviderSetupError([setting, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not valid');
}

const VARIABLE = /^[A-Z][A-Z0-9_]*$/;

/** What an adapter says of a member of its provider's entry, with the way to that member. */
export function asSetupError(error: unknown, at: (member: string) => string): unknown {
  if (!(error instanceof SettingError)) return error;
  const { member, message } = error;
  return new ProviderSetupError(VARIABLE.test(member) ? member : at(member), message, { cause: error });
}
