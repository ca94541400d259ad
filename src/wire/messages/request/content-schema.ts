import { z } from 'zod';
import { base64Data, mediaUrl } from '../../gateway/media/media-fields.ts';
import { json, open, openKinds } from './open-kinds.ts';

/** @spec messages-5, messages-6 */
export const cacheControl = open({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() });
const marked = { cache_control: cacheControl.nullish() };

const text = z.string();
const index = z.int().min(0);
const title = z.string().nullish();
const citationSwitch = open({ enabled: z.boolean().optional() }).nullish();

/** @spec translate-30 */
const citation = openKinds({
  char_location: open({
    cited_text: text,
    document_index: index,
    document_title: title,
    start_char_index: index,
    end_char_index: index,
  }),
  page_location: open({
    cited_text: text,
    document_index: index,
    document_title: title,
    start_page_number: index,
    end_page_number: index,
  }),
  content_block_location: open({
    cited_text: text,
    document_index: index,
    document_title: title,
    start_block_index: index,
    end_block_index: index,
  }),
  web_search_result_location: open({ cited_text: text, url: text, title, encrypted_index: text }),
  search_result_location: open({
    cited_text: text,
    search_result_index: index,
    source: text,
    title,
    start_block_index: index,
    end_block_index: index,
  }),
});

const textBlock = open({ text, citations: z.array(citation).nullish(), ...marked });

const imageBlock = open({
  source: z.discriminatedUnion('type', [
    open({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: base64Data,
    }),
    open({ type: z.literal('url'), url: mediaUrl }),
    open({ type: z.literal('file'), file_id: text }),
  ]),
  ...marked,
});

/** Text and images, of which a document may be made. */
const plainContent = z.union([text, z.array(openKinds({ text: textBlock, image: imageBlock }))]);

const documentBlock = open({
  source: z.discriminatedUnion('type', [
    open({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: base64Data }),
    open({ type: z.literal('text'), media_type: z.literal('text/plain'), data: text }),
    open({ type: z.literal('content'), content: plainContent }),
    open({ type: z.literal('url'), url: mediaUrl }),
    open({ type: z.literal('file'), file_id: text }),
  ]),
  title,
  context: z.string().nullish(),
  citations: citationSwitch,
  ...marked,
});

const searchResultBlock = open({
  source: text,
  title: text,
  content: z.array(open({ type: z.literal('text'), ...textBlock.shape })),
  citations: citationSwitch,
  ...marked,
});

const toolUseBlock = open({ id: z.string().min(1), name: z.string().min(1), input: json.optional(), ...marked });

const toolResultContent = openKinds({
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  search_result: searchResultBlock,
  tool_reference: open({ tool_name: text, ...marked }),
});

const resultBlock = open({ tool_use_id: text, content: open({}) });

const toolReference = z.discriminatedUnion('type', [
  open({ type: z.literal('tool_reference'), name: text }),
  open({ type: z.literal('mcp_tool_reference'), server_name: text, name: text }),
  open({ type: z.literal('mcp_toolset_reference'), server_name: text }),
]);

/** @spec messages-5. Error codes stay open: answers carry more of them than requests may name. */
const BLOCK_SHAPES = {
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  search_result: searchResultBlock,
  tool_use: toolUseBlock,
  server_tool_use: toolUseBlock,
  tool_result: open({
    tool_use_id: z.string().min(1),
    content: z.union([text, z.array(toolResultContent)]).nullish(),
    is_error: z.boolean().nullish(),
    ...marked,
  }),
  thinking: open({ thinking: text, signature: text }),
  redacted_thinking: open({ data: text }),
  web_search_tool_result: open({
    tool_use_id: text,
    content: z.union([
      z.array(
        open({
          type: z.literal('web_search_result'),
          url: text,
          title: text,
          encrypted_content: text,
          page_age: z.string().nullish(),
        }),
      ),
      open({ type: z.literal('web_search_tool_result_error'), error_code: text }),
    ]),
    ...marked,
  }),
  compaction: open({ content: z.string().nullable(), encrypted_content: z.string().nullish(), ...marked }),
  advisor_tool_result: resultBlock,
  service_shell_tool_result: resultBlock,
  service_bash_tool_result: resultBlock,
  tool_addition: open({ tool: toolReference }),
  tool_removal: open({ tool: toolReference }),
} as const;

const SYSTEM_ONLY: ReadonlySet<string> = new Set(['tool_addition', 'tool_removal']);

const contentBlock = openKinds(BLOCK_SHAPES);

export const systemPrompt = z.union([text, z.array(open({ type: z.literal('text'), ...textBlock.shape }))]);

/** @spec messages-5 */
export const message = open({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([text, z.array(contentBlock)]),
}).check((context) => {
  const { role, content } = context.value;
  if (role === 'system' || typeof content === 'string') return;
  for (const [at, { type }] of content.entries())
    if (SYSTEM_ONLY.has(type))
      context.issues.push({
        code: 'custom',
        path: ['content', at, 'type'],
        message: `may only be ${JSON.stringify(type)} in a message whose role is "system"`,
        input: type,
      });
});

export type WireMessage = z.output<typeof message>;
