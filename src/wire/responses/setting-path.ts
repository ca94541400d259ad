import type { GenerationRequest } from '../../canonical/request.ts';

/** Settings that callers of the messages format know by other names than those of chat. @source generation.md 7.1 */
const NAMES_IN_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['stop', 'stop_sequences'],
  ['reasoning', 'thinking'],
  ['response_format', 'output_config.format'],
]);

/** Where a setting stood in the caller's request. @param name in chat */
export function settingPath(name: string, { format }: GenerationRequest): string {
  return (format === 'messages' ? NAMES_IN_MESSAGES.get(name) : undefined) ?? name;
}
