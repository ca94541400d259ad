import type { Warning } from '../../canonical/extra.ts';
import type { GatewayFields } from './directives.ts';

type Deprecated = GatewayFields & { readonly n?: unknown };

/** Top-level members that still work under an older name, or that have no effect. @spec request-17 */
const DEPRECATED_MEMBERS: readonly (Warning & { readonly path: keyof Deprecated })[] = [
  { path: 'route', code: 'field-changed', message: 'is deprecated: use provider.sort.partition' },
  { path: 'transforms', code: 'field-changed', message: 'is deprecated: use the context-compression plugin' },
  { path: 'usage', code: 'field-dropped', message: 'has no effect: usage is always sent' },
  { path: 'n', code: 'field-dropped', message: 'has no effect: exactly one response comes back' },
  {
    path: 'x_search_filter',
    code: 'field-dropped',
    message: 'has no effect without the plugin web',
  },
];

/** Warnings about older names and members without effect in a request's gateway fields. */
export function deprecationWarnings(parsed: Deprecated): readonly Warning[] {
  const warnings: Warning[] = [];
  for (const deprecated of DEPRECATED_MEMBERS) {
    const { path } = deprecated;
    if ((parsed[path] ?? null) === null || (path === 'x_search_filter' && searches(parsed))) continue;
    warnings.push(deprecated);
  }
  for (const [index, { options }] of (parsed.plugins ?? []).entries()) {
    if (options['cost_quality_tradeoff'] === undefined) continue;
    const path = `plugins[${index}].cost_quality_tradeoff`;
    warnings.push({ path, code: 'field-changed', message: 'is deprecated: use cost_tier' });
  }
  return warnings;
}

function searches({ plugins }: Deprecated): boolean {
  return plugins?.some(({ id, enabled }) => id === 'web' && enabled) === true;
}
