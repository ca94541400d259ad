import { CONNECTION_ROUTES } from './connection-routes.ts';
import type { ConsoleRoute } from './console-route.ts';
import { SESSION_ROUTES } from './session-routes.ts';
import { USER_ROUTES } from './user-routes.ts';

/** Every route of the dashboard alone. */
export const CONSOLE_ROUTES: readonly ConsoleRoute[] = [...SESSION_ROUTES, ...USER_ROUTES, ...CONNECTION_ROUTES];
