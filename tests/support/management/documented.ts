import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { ManagementRoute } from '../../../src/http/management/route.ts';
import { errorsOf } from '../../../src/http/openapi/management.ts';
import { MANAGEMENT_ROUTES } from '../../../src/http/routes.ts';

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly text: string;
}

/**
 * The status is one that the management route documents, and the body of a success exactly what it says about it.
 * Generations are looked at elsewhere.
 */
export function assertAsDocumented(method: string, path: string, { status, body, text }: Answer): void {
  const route = routeAt(method, path);
  if (route === undefined) return;
  const documented = route.responses[status];
  if (documented !== undefined) return assert.deepEqual(documented.schema.parse(body), body);
  assert.ok(errorsOf(route).includes(status), `${method} ${route.path} does not document ${status}: ${text}`);
}

/** A route without parameters goes before one with. */
function routeAt(method: string, path: string): ManagementRoute | undefined {
  const steps = path.split('?')[0]?.split('/') ?? [];
  const fits = (template: string): boolean => {
    const parts = template.split('/');
    return parts.length === steps.length && parts.every((part, index) => part.startsWith('{') || part === steps[index]);
  };
  const [route] = MANAGEMENT_ROUTES.filter((known) => known.method === method && fits(known.path)).toSorted(
    (one, other) => one.path.split('{').length - other.path.split('{').length,
  );
  return route;
}
