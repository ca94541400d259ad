const VENDOR_TOOLS =
  'Tools that the vendor runs are no calls for the caller. Chat has no words for them, so warnings name them, and the ' +
  'texts before and after are joined by a blank line, as other texts of one message are.';
const PLACES_IN_A_DOCUMENT =
  'A place in a document of the request (char_location) has no address, so that a url_citation cannot say it: a warning.';
const UNSIGNED = 'Reasoning without a signature is a thinking block with an empty one (@spec messages-30).';
const NESTED_ERROR =
  'The status was sent before the error came, so that it is 200 and the error stands inside the answer, streamed or whole.';
const FREE_AND_ESTIMATED =
  'An answer that an error ended costs nothing (@spec money-12); its tokens are the larger of what was told and our ' +
  'estimate, marked so (@spec money-17).';
const OUR_FAULT =
  "The credentials and the quota are the gateway's, not the caller's: 502 without the vendor's words (@spec error-13).";
const NO_ID_FROM_VENDOR = 'The vendor gave the call no id, so that we made one; it finds its way back with the result.';
const SEALED_CALL =
  'The signature stands in reasoning_details, and in extra_content for clients that were written for the vendor. A ' +
  'messages caller gets it as redacted thinking before its call.';
const STOP_WITH_CALLS = 'The vendor says STOP for calls, too; a caller that waits for tool_calls is told so.';
const ANY_HOST = 'The adapter of this provider speaks chat alone; the recording plays as any host of the format.';
const IMAGE_TO_MESSAGES = 'The messages format has no image of an assistant: a warning in place of each.';
const PRIVATE_COUNTS =
  "Counts of the vendor's own pass to chat, whose usage may hold more members; messages warns of each.";

/**
 * Why what looks odd in a golden is right, by recording; the lines stand at the head of the golden itself. What is odd in
 * every golden is in tests/golden/README.md. A golden that looks odd without a line here has not been reviewed.
 */
export const NOTES: Readonly<Record<string, readonly string[]>> = {
  'anthropic/auth-401': [OUR_FAULT],
  'anthropic/code-execution-stream': [
    VENDOR_TOOLS,
    'Usage is told twice and is cumulative: 2293 and then 4714 prompt tokens are 4714, never added (@spec money-22).',
    'Chat has no member for the container: a warning.',
  ],
  'anthropic/document-citations-stream': [PLACES_IN_A_DOCUMENT],
  'anthropic/duplicate-message-start': ['The second message_start of the host is no second answer and adds no tokens.'],
  'anthropic/noarg-tool-stream': [
    'A call without arguments streams an empty string; as a whole it is the empty object.',
  ],
  'anthropic/redacted-thinking-stream': [
    'Two redacted blocks are two sealed details. There is nothing to read, so that the message has no `reasoning`.',
  ],
  'anthropic/refusal-stream': [
    'The vendor sends no content at all; the refusal of chat is the explanation in stop_details.',
    'The other members of stop_details have no place in chat: a warning.',
  ],
  'anthropic/tool-search-stream': [VENDOR_TOOLS],
  'anthropic/web-search-citations-stream': [
    VENDOR_TOOLS,
    'Texts that cite are pieces of one text, joined without a gap; start_index and end_index count in the joined text.',
  ],
  'azure/grok-noarg-tool-stream': [PRIVATE_COUNTS],
  'bedrock/cache-read': [
    'Both spellings of the cache counts stand in the recording; they are the same tokens, counted once.',
  ],
  'bedrock/claude-citations-stream': [PLACES_IN_A_DOCUMENT],
  'bedrock/gptoss-empty-text-delta-stream': [
    'A model of another maker on Bedrock: its reasoning is of no family that we know, and carries no signature.',
    UNSIGNED,
  ],
  'bedrock/guardrail': ["The guardrail's trace has no place in either format: a warning. It let the answer pass."],
  'bedrock/nova-tool-stream': [
    '`<thinking>` is text that the model wrote. Only who asked it to can know that it is no answer.',
  ],
  'cohere/citations-stream': [
    'Sources are documents of the request: their id stands for the address that a url_citation must have.',
    'The price is of billed_units (65 and 63 tokens), usage of tokens (508 and 86): the vendor bills only what the ' +
      'caller wrote and read.',
  ],
  'cohere/empty-tool-call': [
    'tool_plan is what the model thought before its calls: reasoning.',
    'Tokens and billed tokens differ, as in citations-stream. A call without arguments has the empty object.',
  ],
  'cohere/tool-stream': [
    'tool_plan is what the model thought before its calls: reasoning.',
    'Tokens and billed tokens differ, as in citations-stream.',
  ],
  'deepseek/reasoner-stream': [UNSIGNED],
  'deepseek/responses-tool-stream': [ANY_HOST],
  'gemini/function-call-stream': [NO_ID_FROM_VENDOR, STOP_WITH_CALLS],
  'gemini/grounding-stream': [
    'The vendor counts places in bytes, callers in characters: the two differ from the first ° on.',
    'The prompt is 119 tokens: 17 of the caller and 102 of what the search brought (toolUsePromptTokenCount).',
    'The thoughts are counted but not told: 412 reasoning tokens and no reasoning.',
    'The vendor cites no words of its sources, so that cited_text is empty.',
  ],
  'gemini/partial-args-missing-end': [
    NO_ID_FROM_VENDOR,
    STOP_WITH_CALLS,
    SEALED_CALL,
    'The arguments come in pieces, each with its path, and no event ends them: the next part does, and they are JSON.',
  ],
  'gemini/quota-429': ['retry_after is 48, from the details of the error: the vendor sends no header.'],
  'gemini/thinking-stream': [
    'The signature comes with the text behind the thoughts, so that it is a sealed detail of its own.',
  ],
  'gemini/thoughts-token-count-stream': ['The thoughts are counted but not told.'],
  'gemini/tool-thought-signature-stream': [NO_ID_FROM_VENDOR, STOP_WITH_CALLS, SEALED_CALL],
  'groq/error-mid-stream': [
    NESTED_ERROR,
    FREE_AND_ESTIMATED,
    "The host's own members (channel, x_groq) pass to chat; messages warns of them.",
  ],
  'mistral/hybrid-reasoning-stream': [UNSIGNED],
  'mistral/incremental-tool-call': [
    'Each delta of the recording has a stray `index` beside the calls; what the format does not know passes to chat.',
  ],
  'mistral/magistral-thinking-stream': [
    'Content in parts: those of type thinking are reasoning, the rest is text.',
    UNSIGNED,
  ],
  'openai/compat-tool-call-without-id': [
    NO_ID_FROM_VENDOR,
    'total_tokens of the recording is 109, its parts are 35 and 12: the 62 tokens that the host counts in neither part are ' +
      'thinking, and are told and charged as such.',
    'The signature stands at the message, not at the call: members that chat passes on and messages warns of.',
  ],
  'openai/resp-client-tool-search-stream': [
    'A search for tools that the caller runs is an ordinary call of the tool `tool_search`.',
  ],
  'openai/resp-custom-tool-stream': ['Free text for a custom tool is the member `input` of an ordinary call.'],
  'openai/resp-error-event-stream': [
    'The status of the vendor was 200, but nothing had been said before the error, so that the caller gets a status.',
    OUR_FAULT,
  ],
  'openai/resp-gpt5nano-tool-encrypted-stream': [
    'The reasoning is sealed only; for messages callers its family stands before the data, so that it finds its way back.',
  ],
  'openai/resp-model-not-found-400': ['The vendor answers 400, its code says model_not_found: 404 (@spec error-13).'],
  'openai/resp-reasoning-summary-stream': [
    'Four parts of one summary are four details with one id and four thinking blocks; the sealed reasoning follows them.',
  ],
  'openai/resp-web-search-stream': [
    VENDOR_TOOLS,
    'The vendor tells no results of the search, so that server_tool_use has no result block behind it.',
  ],
  'openai-compatible/anthropic-fallback-tool-call': [
    'The host tells no usage: the tokens are our estimate, marked so, and are paid.',
    'Its calls are counted from 1 on, as blocks; here they begin with 0.',
  ],
  'openai-compatible/gpustack-qwen3-stream': [UNSIGNED, PRIVATE_COUNTS],
  'openai-compatible/ollama-gptoss-tool-stream': [UNSIGNED],
  'openrouter/cache-read': [
    'prompt_tokens hold the 3211 read and the 115 written: 3 are neither, which messages calls input.',
  ],
  'openrouter/error-mid-stream': [
    'The host reports `length` first and then an error, "Token limit reached": after output that is a plain end at the limit.',
  ],
  'openrouter/reasoning-details-tool-stream': [
    'The native finish reason is the one that the host tells of the vendor behind it.',
  ],
  'openrouter/responses-raw-reasoning-stream': [ANY_HOST],
  'openrouter/web-search-stream': [
    'The host sends the sources before the text, with the places 0 to 0. Those are what it said, and stay.',
  ],
  'perplexity/sonar-stream': [
    'search_results are sources of the whole text: from its beginning to its end.',
    PRIVATE_COUNTS,
  ],
  'xai/responses-tool-stream': [
    'The summary of the reasoning and its sealed form are two details with one id.',
    'Neither format has a place for the counts of searches: warnings in both.',
  ],
  'xai/text-stream': [
    'The host counts reasoning beside the completion: 2 and 340 are 342 completion tokens of ours.',
    UNSIGNED,
    PRIVATE_COUNTS,
  ],
  'zai/glm-thinking-stream': [UNSIGNED],

  'chat/everything': [
    'Each kind of reasoning is a block of its own for messages; a record of a tool that a gateway ran has no block there.',
    IMAGE_TO_MESSAGES,
    'A file is a source without an address, which messages cannot cite.',
  ],
  'chat/images-annotations-stream': [IMAGE_TO_MESSAGES],
  'chat/overloaded': ['A failure of the server is told without its words: they may tell secrets (@spec error-4).'],
  'chat/reasoning-tools-stream': [
    'Arguments keep each character: the number that JavaScript cannot hold, 1.0 and the spaces. The golden itself was ' +
      'parsed; the test compares the characters.',
    UNSIGNED,
  ],
  'chat/refusal-stream': [
    'The finish reason of chat is what the vendor said, stop; messages has a stop reason for refusals, and their text.',
  ],
  'cohere/everything': [
    'The plan comes behind the text here, so that it is a second detail, whatever the order of reading.',
  ],
  'cohere/failed-stream': [NESTED_ERROR, FREE_AND_ESTIMATED],
  'converse/everything': [
    PLACES_IN_A_DOCUMENT,
    'A block that neither format knows is a warning in both. Texts that cite are pieces of one text.',
  ],
  'converse/guardrail-stream': ['The text is what the guardrail says in place of the model; its trace is a warning.'],
  'converse/throttled-mid-stream': [NESTED_ERROR, FREE_AND_ESTIMATED],
  'gemini/blocked-stream': [
    'A blocked prompt has no content and no words why: empty content, and a refusal without text.',
  ],
  'gemini/everything': [
    'Code that the vendor ran is a tool of its own for messages; for chat it is a warning.',
    IMAGE_TO_MESSAGES,
    'A kind of part that nobody knows yet is skipped with a warning, and the answer goes on.',
  ],
  'gemini/image-grounding-stream': [IMAGE_TO_MESSAGES, 'Places count characters: ü is two bytes and one character.'],
  'gemini/malformed-call-stream': [
    'The model wrote a call that cannot be read, and nothing else: a failure that may be tried again.',
  ],
  'gemini/thought-text-call-stream': [SEALED_CALL, STOP_WITH_CALLS],
  'messages/everything': [
    VENDOR_TOOLS,
    'A thinking block may be empty and signed: it must come back as it is.',
    'Blocks that nobody knows yet pass to callers of the same format, and are warnings for others.',
  ],
  'messages/overloaded-mid-stream': [NESTED_ERROR, FREE_AND_ESTIMATED],
  'messages/refused': ['What was said before the refusal stays; chat has both, the text and the refusal.'],
  'messages/search-citations-stream': [VENDOR_TOOLS, PLACES_IN_A_DOCUMENT],
  'responses/done-events-only-stream': ['A host that sends no deltas: the text stands in the done events alone.'],
  'responses/everything': [
    VENDOR_TOOLS,
    IMAGE_TO_MESSAGES,
    'An item of a kind that nobody knows yet is a warning for callers of any other format.',
  ],
  'responses/refusal-stream': [
    'The wire says completed; a refusal is what it says, so that the finish reason is content_filter (@spec translate-25).',
  ],

  'pains/10-malformed-event': ['A damaged event is skipped with a warning; the answer goes on and ends as it should.'],
  'pains/13-cut': ['The connection ended in the middle: an error, not an end.', FREE_AND_ESTIMATED],
  'pains/13-no-done': ['The finish reason came: only the last line is missing, which nobody misses.'],
  'pains/13-no-end': [
    'The upstream says that it is done and gives no reason: the end is unknown, and none is made up (@spec chat-response-6).',
    'Nothing was counted, so that an estimate is charged, marked so.',
  ],
  'pains/13-no-message-stop': ['The stop reason came: only the last event is missing, which nobody misses.'],
  'pains/14-usage-chunks': ['Usage comes with every chunk and is cumulative: the last one counts.'],
  'pains/16-all-index-zero': ['Every call of the host has the index 0; a new id begins a new call.'],
  'pains/16-interleaved-calls': [
    'Messages has one open block at a time: the calls come out one after the other, whole.',
  ],
  'pains/18-thinking-delta-in-text': [
    'A thinking delta in a text block opens a block of its own; the text block of the vendor stays, empty.',
  ],
  'pains/27-more-cached-than-prompt': [
    'More tokens from the cache than there were: the prompt bounds them, none is negative.',
  ],
  'pains/28-no-usage': ['The host tells no usage: the tokens are our estimate, marked so, and are paid.'],
};
