import { sandboxModels } from './models.ts';

const CREATED_S = 1_767_225_600;

/** `GET /v1/models` of the chat format, as JSON text. */
export function encodeChatModels(): string {
  const data = upstreamNames().map((id) => ({ id, object: 'model', created: CREATED_S, owned_by: 'sandbox' }));
  return JSON.stringify({ object: 'list', data });
}

/** `GET /v1/models` of the messages format, as JSON text. */
export function encodeMessagesModels(): string {
  const names = upstreamNames();
  const createdAt = new Date(CREATED_S * 1_000).toISOString();
  const data = names.map((id) => ({ type: 'model', id, display_name: id, created_at: createdAt }));
  return JSON.stringify({ data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null });
}

function upstreamNames(): readonly string[] {
  return sandboxModels().map(({ endpoints: [endpoint] }) => endpoint.upstreamModel);
}
