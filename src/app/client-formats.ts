import type { ClientFormatId } from '../canonical/extra.ts';
import type { Catalog } from '../catalog/model.ts';
import type { SerializeError } from '../http/client-error.ts';
import type { ManagementServices } from '../http/management/route.ts';
import { checkModelSlugs } from '../pipeline/route/resolve-models.ts';
import { pluginSchema } from '../plugins/index.ts';
import { createChatClientFormat } from '../wire/chat/format.ts';
import type { ClientFormat } from '../wire/format.ts';
import { createMessagesClientFormat } from '../wire/messages/format.ts';

/** The formats that callers speak. */
export type ClientFormats = Readonly<Record<ClientFormatId, ClientFormat>>;

let made: ClientFormats | undefined;

/** One set for the whole process: they hold nothing of a request, and their schemas take long to compile. */
export function clientFormats(): ClientFormats {
  made ??= {
    chat: createChatClientFormat({ plugin: pluginSchema }),
    messages: createMessagesClientFormat({ plugin: pluginSchema }),
  };
  return made;
}

/** Whether the generation route of a format would take a body, and knows every model that it names. */
export function checkerOf(formats: ClientFormats, catalog: Catalog): ManagementServices['checkRequest'] {
  return (format, body) => {
    const request = formats[format].decodeRequest(body, JSON.stringify(body), { serviceMetadata: false, betas: [] });
    checkModelSlugs(request.directives.models, catalog);
  };
}

/** Below any base path, and with whatever follows. */
const MESSAGES_PATH = /^[^?#]*\/messages(?:[/?#]|$)/;

/** For errors before a route was found: the path determines the shape. */
export function serializeErrorIn({ chat, messages }: ClientFormats, baseUrl: () => string): SerializeError {
  return (error, path) =>
    (MESSAGES_PATH.test(path) ? messages : chat).encodeError(error, {
      generationId: null,
      serviceMetadata: undefined,
      baseUrl: baseUrl(),
    });
}
