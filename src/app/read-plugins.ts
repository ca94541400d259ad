import type { ManagementServices } from '../http/management/route.ts';
import { pluginsSchema } from '../plugins/index.ts';
import { checkShape } from '../wire/gateway/validation/check-shape.ts';

/** Plugins that an account wants for its requests, as strictly as a request's own are read. */
export const readPlugins: ManagementServices['readPlugins'] = (sent, path) =>
  checkShape(pluginsSchema, sent, { root: path });
