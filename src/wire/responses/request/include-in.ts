import type { Warn } from './read-fields.ts';

/** Parts of a response that callers can request. */
const KNOWN: ReadonlySet<string> = new Set([
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'web_search_call.results',
  'file_search_call.results',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'message.input_image.image_url',
  'message.output_text.logprobs',
]);

/** The parts that are known; clients are ahead of the list, so that others are no fault. */
export function decodeInclude(given: readonly string[], warn: Warn): ReadonlySet<string> {
  const include = new Set<string>();
  for (const [at, part] of given.entries()) {
    if (KNOWN.has(part)) include.add(part);
    else warn('field-dropped', `include[${at}]`, 'is not known');
  }
  return include;
}
