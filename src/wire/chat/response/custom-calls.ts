import type { ToolCallBlock } from '../../../canonical/blocks.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { CustomInputDecoder, unwrapCustomInput } from '../../gateway/custom-tools/custom-input.ts';

/** Whether the caller declared the tool of a call as one whose input is a text, decided by its name alone. */
export function isCustomCall({ name }: ToolCallBlock, request: GenerationRequest | undefined): boolean {
  return (
    request?.tools.some((tool) => tool.type === 'function' && tool.kind === 'custom' && tool.name === name) === true
  );
}

/** An entry of `tool_calls`. */
export function encodeCustomCall({ id, name, input }: ToolCallBlock): JsonObject {
  return { id, type: 'custom', custom: { name, input: unwrapCustomInput(input) } };
}

/** The same while the arguments come: the delta of each piece, `undefined` where it adds nothing to the input. */
export class CustomCallDeltas {
  readonly #index: number;
  readonly #decoder = new CustomInputDecoder();
  readonly start: string;

  constructor({ id, name, input }: ToolCallBlock, index: number) {
    this.#index = index;
    const custom = { name, input: this.#decoder.push(input) };
    this.start = JSON.stringify({ tool_calls: [{ index, id, type: 'custom', custom }] });
  }

  more(text: string | undefined): string | undefined {
    return this.#encode(this.#decoder.push(text ?? ''));
  }

  end(): string | undefined {
    return this.#encode(this.#decoder.end());
  }

  #encode(input: string): string | undefined {
    return input === '' ? undefined : JSON.stringify({ tool_calls: [{ index: this.#index, custom: { input } }] });
  }
}
