import type { ClientFormatId } from '../canonical/extra.ts';
import { invalid } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Catalog } from '../catalog/model.ts';
import type { Config } from '../config/config.ts';
import type { SerializeError } from '../http/client-error.ts';
import type { ManagementServices } from '../http/management/route.ts';
import { isJsonObject, type Json } from '../lib/json.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { checkModelSlugs } from '../pipeline/route/resolve-models.ts';
import { pluginSchema } from '../plugins/index.ts';
import { createChatClientFormat } from '../wire/chat/format.ts';
import type { ClientFormat } from '../wire/format.ts';
import { createMessagesClientFormat } from '../wire/messages/format.ts';
import { createContainers } from '../wire/responses/containers.ts';
import { createResponsesClientFormat } from '../wire/responses/format.ts';

const ELSEWHERE = 'is for /responses: this endpoint keeps nothing';

/** The formats that callers speak. */
export type ClientFormats = Readonly<Record<ClientFormatId, ClientFormat>>;

/** One of each for the whole process: they hold nothing of a request, and their schemas take long to compile. */
const chat = once(() => createChatClientFormat({ plugin: pluginSchema }));
const messages = once(() => createMessagesClientFormat({ plugin: pluginSchema }));

/** @param box seals what callers of the responses format keep for the gateway */
export function createClientFormats(config: Config['responses'], box: SecretBox): ClientFormats {
  const containers = createContainers(box);
  const responses = createResponsesClientFormat({ ...config, plugin: pluginSchema, containers });
  return { chat: withInputBodies(chat(), responses), messages: messages(), responses };
}

/**
 * Chat's format for clients that send it a body of the responses format, with `input` in place of `messages`: the body is
 * read as that format reads it, and the response is chat's.
 */
function withInputBodies(plain: ClientFormat, responses: ClientFormat): ClientFormat {
  return {
    ...plain,
    decodeRequest: (body, text, headers, context) =>
      isInputBody(body)
        ? withoutKeeping(responses.decodeRequest(body, text, headers, context))
        : plain.decodeRequest(body, text, headers, context),
  };
}

function isInputBody(body: Json): boolean {
  return isJsonObject(body) && isGiven(body['input']) && !isGiven(body['messages']);
}

function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

/** @throws GatewayError 400 for what a response of chat cannot be: kept, continued, or a compaction */
function withoutKeeping({ response, ...request }: GenerationRequest): GenerationRequest {
  if (response?.previousResponseId !== undefined) throw invalid('previous_response_id', ELSEWHERE);
  if (response?.store === true) throw invalid('store', ELSEWHERE);
  if (response?.background === true) throw invalid('background', ELSEWHERE);
  if (response?.compacts !== undefined) throw invalid('input', 'must not end in compaction_trigger on this endpoint');
  return request;
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
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
const RESPONSES_PATH = /^[^?#]*\/responses(?:[/?#]|$)/;

/** For errors before a route was found: the path determines the shape. */
export function serializeErrorIn(formats: ClientFormats, baseUrl: () => string): SerializeError {
  return (error, path) =>
    formats[formatOfPath(path)].encodeError(error, {
      generationId: null,
      serviceMetadata: undefined,
      baseUrl: baseUrl(),
    });
}

function formatOfPath(path: string): ClientFormatId {
  if (MESSAGES_PATH.test(path)) return 'messages';
  return RESPONSES_PATH.test(path) ? 'responses' : 'chat';
}
