const FILES_AT_ADDRESSES =
  'Files at addresses are warnings here: the gateway fetches them in a stage before this one (pipeline/attempt/inline-media.ts), ' +
  'which goldens leave out.';
const NO_LIST =
  'The endpoint has no list of what it supports, so that everything leaves that the format can say (@spec route-20).';
const RAW_ARGUMENTS =
  'Arguments that are no JSON object become the member `_raw` of one: the wire takes objects alone.';
const NAMES = 'A participant has no name on this wire: it is said before the text (@spec chat-6).';
const WORDS_OF_OURS =
  'The last of the instructions is ours: the model cannot be bound to a schema beside tools, so that it is asked to keep to it.';
const WRITTEN_OUT = 'Documents of plain text and search results are written out, as the wire has no place for them.';
const OLD_REASONING = 'Of four kinds of reasoning only what this vendor made and can check goes back to it.';

/** Why what looks odd in a golden of `golden/requests` is right, by its name. */
export const REQUEST_NOTES: Readonly<Record<string, readonly string[]>> = {
  'chat-full.chat': [
    NO_LIST,
    'The model thinks, so that it takes no sampling: those members are warnings, as the vendor would refuse them.',
    'The bytes of the second document are at an address; a stage before this one fetches them.',
  ],
  'chat-full.chat-plain': [NO_LIST, 'The host caches by itself: each breakpoint is a warning.'],
  'chat-full.cohere': [
    WORDS_OF_OURS,
    RAW_ARGUMENTS,
    NAMES,
    'The text before calls and a summary of the reasoning are the plan of the calls there (tool_plan).',
    'Pictures of a result follow in a user message: a tool message holds text alone.',
  ],
  'chat-full.converse': [
    FILES_AT_ADDRESSES,
    RAW_ARGUMENTS,
    NAMES,
    OLD_REASONING,
    'exclusiveMinimum is taken out of schemas that bind: the vendor refuses it there. A tool that does not bind keeps it.',
    'The paths of additionalModelResponseFieldPaths are how this wire tells which stop sequence came.',
  ],
  'chat-full.converse-nova': [
    FILES_AT_ADDRESSES,
    RAW_ARGUMENTS,
    NAMES,
    'Its own family of members says how to think and topK.',
  ],
  'chat-full.gemini': [
    RAW_ARGUMENTS,
    NAMES,
    'A later instruction is said by the user: this wire knows instructions at its beginning alone.',
    'More than 0 is at least 1 for a whole number, and const an enum of one: the schema says the same in words of the wire.',
    'The signature of the call is in the history of the request, so that it goes back with it.',
  ],
  'chat-full.gemini-2': [
    WORDS_OF_OURS,
    RAW_ARGUMENTS,
    NAMES,
    'Models of the second generation know no ids of calls, and no pictures in results: these follow.',
    'max_tokens is raised by the thinking budget, which counts as part of the answer there.',
  ],
  'chat-full.messages': [
    RAW_ARGUMENTS,
    NAMES,
    OLD_REASONING,
    'The header has the flag for the schema of the answer, while `strict` of a tool is dropped for want of the same flag: ' +
      'only a caller that sends it itself asks for strict tools (@spec chat-26).',
    'Of more than four breakpoints the last four count; the one of the whole request is one of them.',
    'A forced call and thinking exclude each other: the thinking goes (variants).',
  ],
  'chat-full.messages-plain': [RAW_ARGUMENTS, NAMES, 'A plain host gets no member that only the vendor knows.'],
  'chat-full.responses': [
    'The model reads its own sealed reasoning alone; the summary that belongs to it has the same id.',
    'Arguments are text there: they go back character for character, even what is no JSON.',
  ],
  'messages-full.chat': [
    NO_LIST,
    WRITTEN_OUT,
    'The model thinks, so that it takes no sampling. Where a forced call takes the thinking away, sampling is back (variants).',
    'Names of tools are cut to 64 characters with a digest; toolNames leads back.',
    'Citations of the past are annotations, those without an address are left out.',
  ],
  'messages-full.chat-plain': [NO_LIST, WRITTEN_OUT, 'Instructions are one text: not every host takes parts there.'],
  'messages-full.cohere': [WORDS_OF_OURS, WRITTEN_OUT, 'The text before calls is their plan there (tool_plan).'],
  'messages-full.converse': [
    'Documents of text are bytes on this wire, search results are written out.',
    'redactedContent is bytes, so that the data stand there encoded once more.',
    'exclusiveMinimum is taken out of schemas that bind: the vendor refuses it there.',
    FILES_AT_ADDRESSES,
  ],
  'messages-full.converse-nova': [
    'The schema of the answer is a tool `json` beside the others, which the model is told to call; its input becomes the text.',
    FILES_AT_ADDRESSES,
  ],
  'messages-full.gemini': [
    WRITTEN_OUT,
    'The call of another model carries the signature that the vendor names for such calls.',
  ],
  'messages-full.gemini-2': [WORDS_OF_OURS, WRITTEN_OUT],
  'messages-full.messages': [
    'What the vendor of the format knows, or nobody knows yet, leaves as it came.',
    'White space alone is refused as text there, so that it is left out even for its own callers.',
    'Reasoning that another family sealed has its name before the data, by which it is told apart and left out.',
  ],
  'messages-full.messages-plain': [
    'A plain host gets what nobody knows yet, but no member that only the vendor knows.',
  ],
  'messages-full.responses': [
    'Of the reasoning nothing is of this vendor but the last, whose family stands before its data.',
  ],
};
