import type { JsonObject } from '../../lib/json.ts';
import type { ConsoleRoute } from '../console/console-route.ts';
import { NO_BODY } from '../management/route.ts';
import type { SchemaComponents } from './components.ts';
import { jsonBody, jsonContent } from './content.ts';
import { serializeErrors } from './errors.ts';
import { serializeParameters } from './management.ts';

/** These stand beside the base paths of the API, not below them. */
const SERVERS = [{ url: '/' }];
const SECURITY = [{ consoleCookie: [], consoleToken: [] }];
/** Another origin or host, and a database that is away, stop each of them. */
export const CONSOLE_STATUSES = [403, 500, 503];
/** What every operation of a session has in common. */
export const CONSOLE_OPERATION = {
  tags: ['Dashboard'],
  servers: SERVERS,
  'x-console-role': 'member',
  security: SECURITY,
};

export function serializeConsoleRoute(
  components: SchemaComponents,
  route: ConsoleRoute,
  error: JsonObject,
): JsonObject {
  const name = route.operationId.charAt(0).toUpperCase() + route.operationId.slice(1);
  const parameters = serializeParameters(components.inline(`${name}Path`, route.params, 'input'), 'path');
  const answers = Object.entries(route.responses).map(([status, { description, schema }]) => [
    status,
    { description, content: jsonContent(components.add(`${name}Response`, schema, 'output')) },
  ]);
  const statuses = [...route.errors, ...(route.isOpen === true ? [] : [401]), ...CONSOLE_STATUSES];
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...CONSOLE_OPERATION,
    ...(route.isOpen === true && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== NO_BODY && { requestBody: jsonBody(components.add(`${name}Request`, route.body, 'input')) }),
    responses: {
      ...Object.fromEntries(answers),
      ...serializeErrors(
        [...new Set(statuses)].toSorted((one, other) => one - other),
        error,
      ),
    },
  };
}
