import type { FormatId } from '../canonical/extra.ts';
import { chatUpstreamFormat } from '../wire/chat/format.ts';
import { cohereUpstreamFormat } from '../wire/cohere/format.ts';
import { converseUpstreamFormat } from '../wire/converse/format.ts';
import type { UpstreamFormat } from '../wire/format.ts';
import { geminiUpstreamFormat } from '../wire/gemini/format.ts';
import { messagesUpstreamFormat } from '../wire/messages/format.ts';
import { responsesUpstreamFormat } from '../wire/responses/format.ts';

/** Every format of an upstream for generations. */
export const UPSTREAM_FORMATS: Readonly<Record<FormatId, UpstreamFormat>> = {
  chat: chatUpstreamFormat,
  messages: messagesUpstreamFormat,
  responses: responsesUpstreamFormat,
  gemini: geminiUpstreamFormat,
  converse: converseUpstreamFormat,
  cohere: cohereUpstreamFormat,
};
