import type { RunRow } from '../store/evaluations/columns.ts';

/** With what distinguishes it from the model as it is. */
export function nameOf({ settings }: Pick<RunRow, 'settings'>, at: number): string {
  const { model = '', preset, provider, reasoning } = settings.models[at] ?? {};
  const more = [
    preset === undefined ? [] : `@preset/${preset}`,
    provider === undefined ? [] : `provider ${JSON.stringify(provider)}`,
    reasoning === undefined ? [] : `reasoning ${JSON.stringify(reasoning)}`,
  ].flat();
  return more.length === 0 ? model : `${model} (${more.join(', ')})`;
}
