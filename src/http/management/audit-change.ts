import type { Audit } from '../../accounts/audit.ts';
import type { Principal } from '../../accounts/principal.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { ManagementRoute, RouteAnswer } from './route.ts';

type ChangingRoute = Pick<
  ManagementRoute,
  'method' | 'path' | 'scope' | 'operationId' | 'audited' | 'onlyReads' | 'auditsManagers' | 'auditsEveryKey' | 'upload'
>;

/** Records what a management key changed. A route that only reads leaves no event. */
export async function auditChange(
  audit: Audit,
  route: ChangingRoute,
  actor: Principal,
  requested: { readonly params: unknown; readonly body: unknown },
  answer: RouteAnswer,
): Promise<void> {
  const isAdministration =
    route.scope === 'management' ||
    route.auditsEveryKey === true ||
    (route.auditsManagers === true && actor.kind === 'management');
  if (!isAdministration || route.method === 'GET' || route.onlyReads === true) return;
  if (answer.changesNothing === true) return;
  await audit.record({
    actor,
    action: route.operationId,
    subject: answer.subject ?? subjectOf(route, requested.params, answer),
    changes:
      route.upload === undefined && isJsonObject(requested.body)
        ? serializeChanges(requested.body, route.audited === 'values')
        : {},
  });
}

/** Records that a session read what callers said. Reading it by a key is a matter of the key's owner. */
export async function auditRead(
  audit: Audit,
  { readsContentAs: action }: Pick<ManagementRoute, 'readsContentAs'>,
  actor: Principal,
  { subject }: RouteAnswer,
): Promise<void> {
  if (action !== undefined && subject !== undefined) await audit.record({ actor, action, subject, changes: {} });
}

/** The path of the call; for a new resource, its place. */
function subjectOf({ path }: ChangingRoute, params: unknown, { status, body }: RouteAnswer): string {
  const known = isJsonObject(params) ? params : {};
  const called = path.replaceAll(/\{(\w+)\}/g, (template, name: string) => {
    const value = known[name];
    return typeof value === 'string' ? value : template;
  });
  if (status !== 201 || typeof body === 'string' || !('data' in body) || !isJsonObject(body.data)) return called;
  const id = body.data['id'] ?? body.data['hash'];
  return typeof id === 'string' ? `${called}/${id}` : called;
}

function serializeChanges(body: JsonObject, showsValues: boolean): JsonObject {
  if (showsValues) return body;
  return Object.fromEntries(Object.keys(body).map((name) => [name, '(changed)']));
}
